import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { encode } from 'uqr'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { addApp, beginApp, codeField, confirmApp, shownCode } from './authenticator-app.js'
import {
  type ConsoleRig,
  consoleRigs,
  expectAccessible,
  password,
  picture,
  seeHeading,
  signIn,
  signOut,
} from './console-rig.js'

const start = consoleRigs()
const email = 'ada@example.org'

/** Ada is signed in with her password. */
async function signedIn(rig: ConsoleRig): Promise<Page> {
  await rig.account('client', email)
  const page = await rig.open('client', '/')
  await signIn(page, email)
  await seeHeading(page, 'Your account')
  return page
}

/** The dark modules of the QR code on the page, as `x,y`. */
async function drawnModules(page: Page): Promise<readonly string[]> {
  const path = page.getByRole('img', { name: /QR code/ }).locator('path')
  const drawn = (await path.getAttribute('d')) ?? ''
  return [...drawn.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x},${y}`)
}

/** The dark modules that this text has, with the four light ones around that scanners need (ISO/IEC 18004). */
function modulesOf(text: string): readonly string[] {
  const { data } = encode(text, { border: 4 })
  return data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x},${y}`] : [])))
}

const sendCode = (page: Page) =>
  page.getByRole('button', { name: 'Sign in', exact: true }).first().click()

describe.skipIf(isChromiumMissing)('second factors at the console, in chromium', () => {
  it('an authenticator app is added by its QR code, asked for, and removed', async () => {
    const rig = await start()
    const page = await signedIn(rig)
    const answer = page.waitForResponse(/\/mfa\/totp$/)
    await beginApp(page)
    const { otpauthUri } = await (await answer).json()
    expect(await drawnModules(page)).toEqual(modulesOf(otpauthUri))
    await expectAccessible(page)
    await picture(page, 'authenticator-app')
    const app = await confirmApp(rig, page)
    await expectAccessible(page)
    await picture(page, 'backup-codes')
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await page.getByText('There is one.').waitFor()
    await expectAccessible(page)
    await picture(page, 'security')
    await signOut(page)
    await signIn(page, email)
    await seeHeading(page, 'Your second factor')
    await codeField(page).fill('000000')
    await sendCode(page)
    await page.getByText('This code is not right').waitFor()
    expect(await codeField(page).getAttribute('aria-invalid')).toBe('true')
    await expectAccessible(page)
    await codeField(page).fill(await app.nextCode())
    await sendCode(page)
    await seeHeading(page, 'Security')
    await page.getByRole('button', { name: 'Remove the app' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('The authenticator app is removed.').waitFor()
    await page.getByRole('button', { name: 'Add an authenticator app' }).waitFor()
  })

  it('backup codes are copied, downloaded and good once; new ones replace them', async () => {
    const rig = await start()
    const page = await signedIn(rig)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await beginApp(page)
    const { backupCodes } = await confirmApp(rig, page)
    const text = `${backupCodes.join('\n')}\n`
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text)
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download' }).click()
    expect(await readFile(await (await download).path(), 'utf8')).toBe(text)
    await page.getByRole('button', { name: 'I have kept them' }).click()
    const withBackupCode = async () => {
      await signOut(page)
      await signIn(page, email)
      await page.getByText('Use a backup code').click()
      await page.getByLabel('Backup code').fill(backupCodes[0] ?? '')
      await sendBackupCode(page)
    }
    await withBackupCode()
    await page.getByText('9 left.').waitFor()
    await withBackupCode()
    await page.getByText('This code is not right').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Backup code').fill(backupCodes[1] ?? '')
    await sendBackupCode(page)
    await page.getByText('8 left.').waitFor()
    await page.getByRole('button', { name: 'Make new codes' }).click()
    await seeHeading(page, 'Your backup codes')
    const made = await page.locator('.codes li').allInnerTexts()
    expect([made.length, made.some((code) => backupCodes.includes(code))]).toEqual([10, false])
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await page.getByText('10 left.').waitFor()
  })

  it('a trusted browser skips the second factor until it is removed', async () => {
    const rig = await start()
    const page = await signedIn(rig)
    const app = await addApp(rig, page)
    await signOut(page)
    await signIn(page, email)
    await page.getByLabel('Do not ask for this in this browser for a while').check()
    await codeField(page).fill(await app.nextCode())
    await sendCode(page)
    await page.getByText('(this one)').waitFor()
    await expectAccessible(page)
    await signOut(page)
    await signIn(page, email)
    const devices = page.getByRole('region', { name: 'Trusted devices' })
    await devices.getByRole('button', { name: /^Remove/ }).click()
    await page.getByText('Every sign-in asks for the second factor.').waitFor()
    await signOut(page)
    await signIn(page, email)
    await seeHeading(page, 'Your second factor')
  })

  it('a proof that is too old is asked for again in a dialog, and the act goes on', async () => {
    const rig = await start()
    const page = await signedIn(rig)
    const app = await addApp(rig, page)
    await rig.clock.advance(3_600_000)
    await page.getByRole('button', { name: 'Trust this browser' }).click()
    await seeHeading(page, 'Confirm that it is you')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Trust this browser' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Code of your authenticator app').fill(await app.nextCode())
    await dialog.getByRole('button', { name: 'Confirm' }).first().click()
    await page.getByText('(this one)').waitFor()
  })

  it('where the policy requires a factor, the sign-in goes on with its enrolment', async () => {
    const rig = await start({ settings: { mfaPolicyClient: 'required' } })
    await rig.account('client', email)
    const page = await rig.open('client', '/security', { width: 'narrow' })
    await signIn(page, email)
    await seeHeading(page, 'Add a second factor')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Add an authenticator app' }).click()
    await codeField(page).fill(await shownCode(rig, page))
    await page.getByRole('button', { name: 'Add the app' }).click()
    await seeHeading(page, 'Your backup codes')
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await page.getByText('There is one.').waitFor()
  })

  it('the first one is there after at most twelve steps from the start of the demo', async () => {
    const rig = await start()
    await rig.account('operator', 'operator@example.com', 'super_admin')
    const steps: string[] = []
    const page = await rig.open('operator', '/')
    steps.push('open the page that the demo prints')
    const step = async (name: string, act: () => Promise<void>) => {
      await act()
      steps.push(name)
    }
    const press = (name: string) =>
      step(name, () => page.getByRole('button', { name }).first().click())
    await step('e-mail address', () =>
      page.getByLabel('E-mail address').fill('operator@example.com'),
    )
    await step('password', () => page.getByLabel('Password').fill(password))
    await press('Sign in')
    await step('Security', () => page.getByRole('link', { name: 'Security' }).click())
    const part = page.getByRole('region', { name: 'Authenticator app' })
    await step('password again', () => part.getByLabel('Your password').fill(password))
    await press('Add an authenticator app')
    await codeField(page).waitFor()
    const code = await shownCode(rig, page)
    await step('code', () => codeField(page).fill(code))
    await press('Add the app')
    await press('I have kept them')
    await page.getByText('There is one.').waitFor()
    expect(steps.length, steps.join(', ')).toBeLessThanOrEqual(12)
  })
})

const sendBackupCode = (page: Page) =>
  page.locator('details').getByRole('button', { name: 'Sign in', exact: true }).click()
