import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { addApp } from './authenticator-app.js'
import {
  type ConsoleRig,
  consoleRigs,
  expectAccessible,
  mailedUrl,
  picture,
  seeHeading,
  signIn,
} from './console-rig.js'
import { agree, proveByApp, seatedAdmin, settled, visit } from './operator-steps.js'

const start = consoleRigs()
const email = 'linus@example.org'

/** Looks the user up by the address, and opens the page about them. */
async function find(page: Page, who: string): Promise<void> {
  await visit(page, 'Users')
  await page.getByLabel('Find by e-mail address').fill(who.toUpperCase())
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByRole('link', { name: who }).click()
  await seeHeading(page, 'User')
  await settled(page)
}

async function userPage(rig: ConsoleRig): Promise<Page> {
  await rig.account('client', email)
  const page = await rig.open('client', '/')
  await signIn(page, email)
  await seeHeading(page, 'Your account')
  return page
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const said = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()

describe.skipIf(isChromiumMissing)('users at the console, in chromium', () => {
  it('a session is ended, after the operator proved to be there', async () => {
    const rig = await start()
    const theirs = await userPage(rig)
    const admin = await seatedAdmin(rig)
    const { page } = admin
    await find(page, email)
    await expectAccessible(page)
    await picture(page, 'operator-user')
    await page.getByRole('button', { name: 'End the session' }).click()
    await proveByApp(admin)
    await said(page, 'The session is ended.')
    await theirs.getByRole('link', { name: 'Security' }).click()
    await seeHeading(theirs, 'Sign in')
    await signIn(theirs, email)
    await seeHeading(theirs, 'Security')
    await page.reload()
    // The proof is young enough for what follows.
    await press(page, 'End all sessions …')
    await agree(page, 'End all')
    await said(page, 'All sessions are ended.')
    await expect.poll(() => page.getByRole('cell', { name: 'ended' }).count()).toBe(2)
    await expectAccessible(page)
  })

  it('leaves everything as it was where the operator does not prove it or says no', async () => {
    const rig = await start()
    const theirs = await userPage(rig)
    const { page } = await seatedAdmin(rig)
    await find(page, email)
    await page.getByRole('button', { name: 'End the session' }).click()
    await seeHeading(page, 'Confirm that it is you')
    await page.keyboard.press('Escape')
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.method()))
    await press(page, 'Disable …')
    await agree(page, 'Cancel')
    await press(page, 'Delete …')
    await page.keyboard.press('Escape')
    await press(page, 'Mail a password link')
    await said(page, 'A link to set a password is on its way')
    expect(sent).toEqual(['POST'])
    await theirs.getByRole('link', { name: 'Security' }).click()
    await seeHeading(theirs, 'Security')
    expect((await rig.host.auth.client.users.findByEmail(email))?.enabled).toBe(true)
  })

  it('an account is disabled, enabled, renamed and deleted', async () => {
    const rig = await start()
    const id = await rig.account('client', email)
    const admin = await seatedAdmin(rig, 'narrow')
    const { page } = admin
    await find(page, email)
    await press(page, 'Disable …')
    await agree(page, 'Disable')
    await proveByApp(admin)
    await said(page, 'The account is disabled.')
    await page.getByText('disabled', { exact: true }).waitFor()
    expect((await rig.host.auth.client.users.get(id))?.enabled).toBe(false)
    await press(page, 'Enable')
    await said(page, 'The account is enabled.')
    await page.getByText('Change the name').click()
    await page.getByLabel('Name', { exact: true }).fill('Linus')
    await press(page, 'Save the name')
    await said(page, 'The name is saved.')
    expect(await rig.host.auth.client.users.get(id)).toMatchObject({ enabled: true, name: 'Linus' })
    await press(page, 'Delete …')
    await expectAccessible(page)
    await agree(page, 'Delete for good')
    await said(page, `${email} is deleted.`)
    await seeHeading(page, 'Users')
    await page.getByText('There are no accounts yet.').waitFor()
    expect(await rig.host.auth.client.users.get(id)).toBeNull()
  })

  it('lost factors are reset, and links are mailed', async () => {
    const rig = await start()
    const theirs = await userPage(rig)
    await addApp(rig, theirs)
    const admin = await seatedAdmin(rig)
    const { page } = admin
    await find(page, email)
    await press(page, 'Mail a password link')
    await said(page, `A link to set a password is on its way to ${email}.`)
    await rig.host.auth.close()
    expect(mailedUrl(rig, 'resetPassword', email).host).toBe(new URL(rig.host.clientUrl).host)
    await press(page, 'Reset second factors …')
    await agree(page, 'Reset')
    await proveByApp(admin)
    await said(page, 'The second factors are removed')
    await theirs.goto(rig.host.clientUrl)
    await signIn(theirs, email)
    await seeHeading(theirs, 'Your account')
  })

  it('a registration that waits is mailed again and removed', async () => {
    const rig = await start()
    const theirs = await rig.open('client', '/register')
    await theirs.getByLabel('E-mail address').fill(email)
    await theirs.getByLabel('Password').fill('a wholly different passphrase')
    await theirs.getByRole('main').getByRole('button').first().click()
    await expect.poll(() => rig.mailer.count(email)).toBe(1)
    const admin = await seatedAdmin(rig)
    const { page } = admin
    await visit(page, 'Users')
    await page.getByRole('button', { name: `Mail again: ${email}` }).click()
    await proveByApp(admin)
    await said(page, 'The link is mailed again.')
    await expect.poll(() => rig.mailer.count(email)).toBe(2)
    await settled(page)
    await page.getByRole('button', { name: `Remove: ${email}` }).click()
    await page.getByText('No registration waits for its link to be opened.').waitFor()
    await expectAccessible(page)
  })

  it('a long list goes on on a next page', async () => {
    const rig = await start()
    for (let i = 10; i < 40; i += 1) {
      await rig.account('client', `user-${i}@example.org`)
      await rig.clock.advance(1)
    }
    const { page } = await seatedAdmin(rig)
    await visit(page, 'Users')
    expect(await page.getByRole('row').count()).toBe(26)
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByRole('link', { name: 'user-39@example.org' }).waitFor()
    expect(await page.getByRole('row').count()).toBe(6)
    await page.getByRole('link', { name: 'First page' }).click()
    await page.getByRole('link', { name: 'user-10@example.org' }).waitFor()
    await page.getByLabel('Find by e-mail address').fill('none@example.org')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByText('No account has the address none@example.org.').waitFor()
  })
})
