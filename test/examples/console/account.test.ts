import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import {
  type ConsoleRig,
  consoleRigs,
  expectAccessible,
  mailedUrl,
  password,
  seeHeading,
  seeHome,
  signIn,
  signOut,
} from './console-rig.js'

const start = consoleRigs()
const email = 'ada@example.org'
const other = 'another fine passphrase'

async function signedIn(rig: ConsoleRig, surface: 'client' | 'operator'): Promise<Page> {
  const page = await rig.open(surface, '/')
  await signIn(page, email)
  await seeHome(page, surface)
  return page
}

describe.skipIf(isChromiumMissing)('the own account at the console, in chromium', () => {
  it('the name is changed, at the top of the page too', async () => {
    const rig = await start()
    await rig.account('client', email)
    const page = await signedIn(rig, 'client')
    await page.getByLabel('Name').fill('Countess Lovelace')
    await page.getByRole('button', { name: 'Save the name' }).click()
    await page.getByText('Your name is saved.').waitFor()
    await page.getByRole('banner').getByText('Countess Lovelace').waitFor()
    await expectAccessible(page)
  })

  it('the address moves by the mailed link, and by the password where another browser opens it', async () => {
    const rig = await start()
    const id = await rig.account('client', email)
    // So that the top of the page shows the address.
    await rig.host.auth.client.users.update(id, { name: '' })
    const page = await signedIn(rig, 'client')
    const move = async (newEmail: string) => {
      await page.getByLabel('New address').fill(newEmail)
      await page.getByLabel('Your password').fill(password)
      await page.getByRole('button', { name: 'Change the address' }).click()
      await page.getByText(`Open the link in the mail to ${newEmail}.`).waitFor()
      return mailedUrl(rig, 'changeEmail', newEmail)
    }
    await page.goto((await move('countess@example.org')).href)
    await page.getByRole('button', { name: 'Confirm the address' }).click()
    await page.getByText('Your address is countess@example.org.').waitFor()
    await page.getByRole('banner').getByText('countess@example.org').waitFor()
    const { pathname, hash } = await move('lovelace@example.org')
    const elsewhere = await rig.open('client', pathname + hash)
    await elsewhere.getByRole('button', { name: 'Confirm the address' }).click()
    await elsewhere.getByText('You are not signed in here.').waitFor()
    await expectAccessible(elsewhere)
    await elsewhere.getByLabel('Your password').fill(password)
    await elsewhere.getByRole('button', { name: 'Confirm the address' }).click()
    await seeHeading(elsewhere, 'Sign in')
    await signIn(elsewhere, 'lovelace@example.org')
    await seeHeading(elsewhere, 'Your account')
  })

  it('the password is changed, after a wrong one was refused at its field', async () => {
    const rig = await start()
    await rig.account('client', email)
    const page = await signedIn(rig, 'client')
    const elsewhere = await signedIn(rig, 'client')
    await page.getByRole('link', { name: 'Security' }).click()
    const change = async (present: string) => {
      await page.getByLabel('Present password').fill(present)
      await page.getByLabel('New password').fill(other)
      await page.getByRole('button', { name: 'Change the password' }).click()
    }
    await change('not the right passphrase')
    await page.locator('[name=currentPassword][aria-invalid]').waitFor()
    await change(password)
    await page.getByText('Your password is changed.').waitFor()
    await expectAccessible(page)
    // The other session is over, and its page says so at its next request.
    await elsewhere.getByRole('link', { name: 'Security' }).click()
    await seeHeading(elsewhere, 'Sign in')
    await elsewhere.getByText('You were signed out.').waitFor()
    await signOut(page)
    await signIn(page, email, other)
    await seeHeading(page, 'Security')
  })

  it('a sign-out everywhere ends the other browser’s session', async () => {
    const rig = await start()
    await rig.account('client', email)
    const page = await signedIn(rig, 'client')
    const elsewhere = await signedIn(rig, 'client')
    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.getByRole('cell', { name: 'this one' }).waitFor()
    await page.getByRole('button', { name: /^End the session of/ }).waitFor()
    expect(await page.getByRole('row').count()).toBe(3)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await seeHeading(page, 'Sign out everywhere?')
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await seeHeading(page, 'Sign in')
    await elsewhere.getByRole('link', { name: 'Security' }).click()
    await seeHeading(elsewhere, 'Sign in')
  })

  it('an operator sees the own sessions and ends one', async () => {
    const rig = await start()
    await rig.account('operator', email)
    const elsewhere = await signedIn(rig, 'operator')
    const page = await signedIn(rig, 'operator')
    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.getByText('this one').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: /^End the session/ }).click()
    await page.getByText('The session is ended.').waitFor()
    await page.getByText('ended', { exact: true }).waitFor()
    await elsewhere.getByRole('link', { name: 'Security' }).click()
    await elsewhere.getByText('You were signed out.').waitFor()
  })

  it('the account is deleted, with the password', async () => {
    const rig = await start()
    const id = await rig.account('client', email)
    const page = await signedIn(rig, 'client')
    await page.getByRole('button', { name: 'Delete my account …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Your password').fill('not the right passphrase')
    await dialog.getByRole('button', { name: 'Delete my account' }).click()
    await dialog.locator('[aria-invalid]').waitFor()
    await expectAccessible(page)
    await dialog.getByLabel('Your password').fill(password)
    await dialog.getByRole('button', { name: 'Delete my account' }).click()
    await page.getByText('Your account is deleted.').waitFor()
    await seeHeading(page, 'Sign in')
    expect(await rig.host.auth.client.users.get(id)).toBeNull()
  })

  it('another tab follows a sign-out, and another user’s sign-in', async () => {
    const rig = await start()
    await rig.account('client', email)
    await rig.host.auth.client.users.create({
      ...{ email: 'grace@example.org', password, emailVerified: true, name: 'Grace Hopper' },
    })
    const page = await signedIn(rig, 'client')
    const tab = await rig.open('client', '/', { visitor: page.context() })
    await tab.getByText(`Your address is ${email}.`).waitFor()
    await signOut(page)
    await seeHeading(tab, 'Sign in')
    await signIn(page, email)
    await tab.getByText(`Your address is ${email}.`).waitFor()
    // Grace takes the place of Ada, without a moment between them in which no user is signed in.
    const login = JSON.stringify({ email: 'grace@example.org', password })
    const hint = JSON.stringify({ v: 1, surface: 'client', kind: 'session' })
    await page.evaluate(`(async () => {
      const headers = { 'content-type': 'application/json' }
      await fetch('/v1/auth/client/login', { method: 'POST', headers, body: ${JSON.stringify(login)} })
      new BroadcastChannel('postern:' + location.origin + '/v1/auth/client').postMessage(${hint})
    })()`)
    await tab.getByText('Your address is grace@example.org.').waitFor()
  })
})
