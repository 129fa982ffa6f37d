import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { contactSheets } from '../../support/hosts/contact-sheets.js'
import { httpClient } from '../../support/hosts/http-client.js'
import { flawsOfEachLook } from '../../support/hosts/page-flaws.js'
import { beginApp, codeField, confirmApp } from './authenticator-app.js'
import { addElement, controlOf, save } from './configuration-steps.js'
import {
  type ConsoleRig,
  consoleRigs,
  mailedUrl,
  password,
  seeHeading,
  seeHome,
  signIn,
} from './console-rig.js'
import { proveByApp, type SeatedOperator, seatedAdmin } from './operator-steps.js'

const start = consoleRigs()
const email = 'ada@example.org'
const minute = 60_000
/** Links to GitHub stand on the pages; nobody follows them. */
const settings = {
  githubOperatorEnabled: true,
  githubClientEnabled: true,
  githubClientId: 'client',
  githubClientSecret: 'secret of the client',
}

/** The heads of the sessions, the same on both surfaces. */
const sessionHeads = 'SinceBrowser or appNetwork addressState'

/** Looks at one page after the other, and keeps what is wrong with them. */
function inspection(surface: 'client' | 'operator') {
  const sheets = contactSheets(`demo-${surface}`)
  const flaws: string[] = []
  const seen = new Set<string>()
  /** The page that is open, once it has loaded. */
  const look = async (page: Page, name: string) => {
    await page.locator('main [aria-busy]').waitFor({ state: 'detached' })
    seen.add(new URL(page.url()).pathname)
    const ways = await page.locator('main a[href^="/"]:visible, nav a:visible').count()
    if (ways === 0) flaws.push(`${name}: no way on but by its form`)
    const behind = await page.locator('dialog button:text-is("Cancel") ~ button').count()
    if (behind > 0) flaws.push(`${name}: Cancel is not the last button`)
    flaws.push(...(await flawsOfEachLook(page, name, sheets)))
  }
  return {
    look,
    /** Opens an address, waits for a text, and looks. */
    async visit(page: Page, path: string, text: string) {
      await page.goto(new URL(path, page.url()).href)
      await page.getByText(text).first().waitFor()
      await look(page, path.replace(/#.*/, ''))
    },
    /** Nothing is wrong, and each page was seen that the sources of the surface declare. */
    async judge(page: Page) {
      const folder = fileURLToPath(new URL('../../../examples/console/pages/', import.meta.url))
      const declared = globSync(`{shared,${surface}}/**/*-page.ts`, { cwd: folder })
        .flatMap((file) => /^ {2}path: '(.+)',$/m.exec(readFileSync(folder + file, 'utf8')) ?? [])
        .filter((path) => path.startsWith('/'))
      const isSeen = (path: string) => {
        const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)
        return [...seen].some((one) => pattern.test(one))
      }
      expect(declared.length).toBeGreaterThan(8)
      expect(declared.filter((path) => !isSeen(path))).toEqual([])
      await sheets.write(page)
      expect(flaws).toEqual([])
    },
  }
}

type Inspection = ReturnType<typeof inspection>

const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).first().click()

async function openDialog(page: Page, name: string): Promise<void> {
  await press(page, name)
  await page.getByRole('dialog').waitFor()
}

/** The pages of both surfaces for those who have no session. */
async function visitorPages({ visit, look }: Inspection, page: Page): Promise<void> {
  await visit(page, '/login', 'Forgot your password?')
  await press(page, 'Sign in')
  await look(page, 'a sign-in without an address')
  await visit(page, '/forgot-password', 'Send me a link')
  await visit(page, '/reset-password', 'it was opened without one')
  await visit(page, '/verify-email', 'it was opened without one')
  await visit(page, '/signed-in?error=oauth_denied', 'did not let you sign in')
  await visit(page, '/nowhere', 'To the first page')
}

async function registrationPages(rig: ConsoleRig, { visit, look }: Inspection, page: Page) {
  await visit(page, '/demo/mails', 'There is no mail yet.')
  await visit(page, '/register', 'Name, if you like')
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  await press(page, 'Create the account')
  await seeHeading(page, 'Open the link in the mail')
  await look(page, 'a registration that waits')
  const { pathname, hash } = mailedUrl(rig, 'verifyEmail', email)
  const elsewhere = await rig.open('client', pathname + hash)
  await press(elsewhere, 'Confirm the address')
  await elsewhere.getByText('This browser is not the one').waitFor()
  await look(elsewhere, 'a registration, confirmed elsewhere')
  await visit(page, pathname + hash, 'One click, and it is done.')
  await press(page, 'Confirm the address')
  await page.getByText('Your address is confirmed.').waitFor()
  await look(page, 'a confirmed address')
  await visit(page, '/forgot-password', 'Send me a link')
  await page.getByLabel('E-mail address').fill(email)
  await press(page, 'Send me a link')
  await seeHeading(page, 'Look into your mails')
  await look(page, 'a forgotten password')
  await visit(page, '/sign-in-code', 'Mail me a code')
  await page.getByLabel('E-mail address').fill(email)
  await press(page, 'Mail me a code')
  await seeHeading(page, 'Look into your mails')
  await page.getByLabel('The eight digits').fill('0')
  await press(page, 'Sign in')
  await page.getByText('This code is not right').waitFor()
  await look(page, 'a mailed code')
  await page.goto(mailedUrl(rig, 'resetPassword', email).href)
  await page.getByLabel('New password').waitFor()
  await look(page, 'a password by a mailed link')
  await visit(page, '/demo/mails', 'Show as text')
  await page.getByText('Show as text').first().click()
  await look(page, 'a mail as text')
  await visit(page, '/demo/mails/1', 'Confirm')
}

/** What may stand between a password and the first page. */
async function stepsBetween({ look }: Inspection): Promise<void> {
  const rig = await start({ settings: { mfaPolicyClient: 'required', passwordMaxAge: '30d' } })
  await rig.account('client', email)
  const page = await rig.open('client', '/login')
  await signIn(page, email)
  await seeHeading(page, 'Add a second factor')
  await look(page, 'an enrolment')
  await rig.clock.advance(31 * 24 * 60 * minute)
  await page.reload()
  await signIn(page, email)
  await seeHeading(page, 'Your password is too old')
  await look(page, 'a password that is too old')
}

/** What stands on the operators' pages: people, a registration that waits, machines, roles and figures. */
async function peopled(rig: ConsoleRig, page: Page) {
  const { auth, clientUrl, operatorUrl } = rig.host
  for (let count = 10; count < 36; count += 1) await rig.account('client', `user-${count}@shop.org`)
  const id = await rig.account('client', 'linus@example.org')
  await rig.account('operator', 'grace@example.org')
  const send = httpClient(`${clientUrl}/v1/auth/client`)
  await send('POST', '/register', { body: { email: 'new@example.org', password } })
  for (let signIns = 0; signIns < 4; signIns += 1) {
    for (const given of [password, password, 'wrong'].slice(signIns % 2)) {
      await send('POST', '/login', { body: { email: 'linus@example.org', password: given } })
    }
    // What a minute had is known once somebody looks.
    await page.goto(`${operatorUrl}/status`)
    await seeHeading(page, 'Sign-ins a minute')
    await rig.clock.advance(minute)
  }
  const clerk = await auth.client.roles.define({
    name: 'clerk',
    permissions: ['orders.read', 'orders.refund'],
  })
  await auth.client.roles.bind({ userId: id, roleId: clerk.id })
  return { user: `/users/client/${id}`, role: `/roles?surface=client&role=${clerk.id}` }
}

async function administeredPages(rig: ConsoleRig, inspected: Inspection, admin: SeatedOperator) {
  const { visit, look } = inspected
  const { page } = admin
  const { user, role } = await peopled(rig, page)
  await visit(page, '/users', 'new@example.org')
  await visit(page, '/users?surface=operator', 'grace@example.org')
  await visit(page, user, 'End all sessions')
  await openDialog(page, 'Delete …')
  await look(page, 'the deletion of a user')
  await visit(page, '/service-accounts', 'There is no service account yet.')
  await page.getByLabel('Name').fill('Nightly export')
  await press(page, 'Create')
  await proveByApp(admin)
  await seeHeading(page, 'Store this secret now')
  await look(page, 'a secret')
  await press(page, 'I have stored it')
  await seeHeading(page, 'Service account')
  await look(page, 'a service account')
  await visit(page, '/service-accounts', 'Nightly export')
  await visit(page, role, 'Change clerk')
  await visit(page, '/roles?surface=operator', 'There is no role here yet.')
  await visit(page, '/audit', 'serviceCredential.issued')
  await page.getByText('Details').first().click()
  await look(page, 'a record with details')
  await visit(page, '/status', 'Sign-ins a minute')
  expect(await page.locator('.plot polyline').count()).toBeGreaterThan(3)
  await page.getByText('The same as a table').first().click()
  await look(page, 'the figures of a chart')
}

async function configurationPages({ visit, look }: Inspection, page: Page): Promise<void> {
  await visit(page, '/configuration', 'shop')
  await visit(page, '/configuration/shop', 'rehearsal')
  await openDialog(page, 'Activate rehearsal')
  await look(page, 'an activation')
  await visit(page, '/configuration/auth/production', 'Nothing has changed.')
  await visit(page, '/configuration/shop/live', 'Nothing has changed.')
  await controlOf(page, 'title').fill('A shop around the corner')
  await controlOf(page, 'paymentKey').fill('key-of-the-provider')
  await addElement(page, 'deliveryZones', 'North')
  await look(page, 'edited settings')
  await controlOf(page, 'deliveryZones.north.countries').fill('no, se')
  await controlOf(page, 'deliveryZones.north.price').fill('12')
  await save(page, 2)
  await visit(page, '/configuration/shop/live/history', 'Revision 2')
}

describe.skipIf(isChromiumMissing)('every page of the console, in chromium', () => {
  it('is whole and legible for users, on a desktop and on a phone, in light and in dark', async () => {
    const rig = await start({ settings })
    const inspected = inspection('client')
    const { visit, look, judge } = inspected
    const page = await rig.open('client', '/login')
    await visitorPages(inspected, page)
    await registrationPages(rig, inspected, page)
    for (const profile of [page, await rig.open('client', '/login')]) {
      await profile.goto(rig.host.clientUrl)
      await signIn(profile, email)
      await seeHome(profile, 'client')
    }
    await visit(page, '/account', 'Change the address')
    await openDialog(page, 'Delete my account …')
    await look(page, 'the deletion of an account')
    await visit(page, '/sessions', sessionHeads)
    await visit(page, '/providers', 'GitHub')
    await visit(page, '/security', 'Once you have a second factor')
    await beginApp(page)
    await look(page, 'an authenticator app')
    const app = await confirmApp(rig, page)
    await look(page, 'backup codes')
    await press(page, 'I have kept them')
    await page.getByText('There is one.').waitFor()
    await press(page, 'Trust this browser')
    await seeHeading(page, 'Confirm that it is you')
    await look(page, 'a step-up')
    await codeField(page).fill(await app.nextCode())
    await press(page, 'Confirm')
    await page.getByText('(this one)').waitFor()
    await look(page, 'a secured account')
    await page.context().clearCookies()
    await page.goto(rig.host.clientUrl)
    await signIn(page, email)
    await seeHeading(page, 'Your second factor')
    await page.getByText('Use a backup code').click()
    await look(page, 'a second factor')
    await stepsBetween(inspected)
    await judge(page)
  }, 300_000)

  it('is whole and legible for operators, on a desktop and on a phone, in light and in dark', async () => {
    const rig = await start({ settings })
    const inspected = inspection('operator')
    const { visit, judge } = inspected
    const visitor = await rig.open('operator', '/login')
    await visitorPages(inspected, visitor)
    await visit(visitor, '/register', 'New accounts are not made here.')
    const admin = await seatedAdmin(rig)
    const { page } = admin
    await administeredPages(rig, inspected, admin)
    await configurationPages(inspected, page)
    await visit(page, '/account', 'Change the address')
    await visit(page, '/security', 'There is one.')
    await visit(page, '/sessions', sessionHeads)
    await visit(page, '/providers', 'GitHub')
    await visitor.goto(rig.host.operatorUrl)
    await signIn(visitor, 'grace@example.org')
    await visitor.getByText('It needs the permission console.users.read.').waitFor()
    await visit(visitor, '/users', 'It needs the permission')
    await visit(visitor, '/configuration', 'It needs the permission')
    await visit(visitor, '/status', 'It needs the permission')
    await judge(page)
  }, 300_000)
})
