import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import {
  consoleRigs,
  expectAccessible,
  mailedUrl,
  password,
  picture,
  seeHeading,
  seeHome,
  signIn,
} from './console-rig.js'

const start = consoleRigs()
const email = 'ada@example.org'
const other = 'another fine passphrase'

describe.skipIf(isChromiumMissing)('the ways into the console, in chromium', () => {
  it('an account is registered, confirmed by the mailed link and signed in to', async () => {
    const rig = await start()
    const page = await rig.open('client', '/', { width: 'narrow' })
    await page.getByRole('link', { name: 'Create an account' }).click()
    await seeHeading(page, 'Create an account')
    await page.getByLabel('E-mail address').fill('no address')
    await page.getByLabel('Password').fill('too short')
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByText('This is not an e-mail address.').waitFor()
    await page.getByLabel('E-mail address').fill(email)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByText('it is too short').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Password').fill(password)
    await page.getByLabel('Name, if you like').fill('Ada Lovelace')
    await picture(page, 'register-narrow')
    await page.getByRole('button', { name: 'Create the account' }).click()
    await seeHeading(page, 'Open the link in the mail')
    await expectAccessible(page)
    // The demo's mailbox shows the link, and the address keeps nothing of it.
    await page.getByRole('link', { name: 'Mails of this demo' }).click()
    await seeHeading(page, 'Mails of the demo')
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Open the link' }).click()
    await seeHeading(page, 'Confirm your address')
    expect(page.url()).toBe(`${rig.host.clientUrl}/verify-email`)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Confirm the address' }).click()
    await page.getByText('Your address is confirmed.').waitFor()
    await signIn(page, email)
    await seeHeading(page, 'Your account')
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada Lovelace')
  })

  it('the link in another browser asks for a password, and takes none that was registered', async () => {
    const rig = await start()
    const page = await rig.open('client', '/register')
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await seeHeading(page, 'Open the link in the mail')
    const { pathname, hash } = mailedUrl(rig, 'verifyEmail', email)
    const elsewhere = await rig.open('client', pathname + hash)
    await elsewhere.getByRole('button', { name: 'Confirm the address' }).click()
    await elsewhere.getByText('This browser is not the one that registered.').waitFor()
    await expectAccessible(elsewhere)
    await elsewhere.getByLabel('New password').fill(other)
    await elsewhere.getByRole('button', { name: 'Confirm the address' }).click()
    await seeHeading(elsewhere, 'Sign in')
    await signIn(elsewhere, email)
    await elsewhere.getByText('is not right').waitFor()
    await signIn(elsewhere, email, other)
    await seeHeading(elsewhere, 'Your account')
  })

  it('a mailed code signs in, in the browser that asked for it', async () => {
    const rig = await start()
    await rig.account('client', email)
    const page = await rig.open('client', '/login', { width: 'narrow' })
    await page.getByRole('link', { name: 'Sign in by a mailed code' }).click()
    await seeHeading(page, 'Sign in by a mailed code')
    await page.getByLabel('E-mail address').fill(email)
    await page.getByRole('button', { name: 'Mail me a code' }).click()
    await seeHeading(page, 'Look into your mails')
    const { code } = rig.mailer.last('loginCode', email).data
    await page.getByLabel('The eight digits').fill(code.replace(/^..../, '$& '))
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await seeHeading(page, 'Your account')
  })

  it('a forgotten password is replaced by the mailed link, once', async () => {
    const rig = await start()
    await rig.account('operator', email)
    const page = await rig.open('operator', '/login')
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await seeHeading(page, 'Choose another password')
    await page.getByLabel('E-mail address').fill(email)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await seeHeading(page, 'Look into your mails')
    const { href } = mailedUrl(rig, 'resetPassword', email)
    const replaced = async () => {
      await page.goto(href)
      await page.getByLabel('New password').fill(other)
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Save the password' }).click()
    }
    await replaced()
    await page.getByText('Your password is saved.').waitFor()
    expect(page.url()).toBe(`${rig.host.operatorUrl}/login`)
    await signIn(page, email, other)
    await seeHome(page, 'operator')
    await replaced()
    await page.getByText('This link was used before').waitFor()
  })

  it('a link that changes nothing but the fragment is followed, and its token taken out', async () => {
    const rig = await start()
    const page = await rig.open('client', '/verify-email')
    await page.getByText('Open the link in the mail').waitFor()
    await page.evaluate('location.href = "/verify-email#token=abc"')
    await page.getByRole('button', { name: 'Confirm the address' }).click()
    await page.getByText('This link was used before').waitFor()
    expect(page.url()).toBe(`${rig.host.clientUrl}/verify-email`)
    expect(await page.evaluate('history.length')).toBe(3)
  })

  it('no stranger registers as an operator', async () => {
    const rig = await start()
    const page = await rig.open('operator', '/register')
    await page.getByText('New accounts are not made here.').waitFor()
    await page.getByRole('link', { name: 'Sign in instead' }).click()
    await page.getByRole('link', { name: 'Forgot your password?' }).waitFor()
    expect(await page.getByRole('link', { name: 'Create an account' }).count()).toBe(0)
    const body = JSON.stringify({ email, password })
    const reply = await page.evaluate(`fetch('/v1/auth/operator/register', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(body)},
    }).then((reply) => reply.json())`)
    expect(reply).toMatchObject({ status: 403, code: 'registration_disabled' })
  })

  it('shows what the surface has switched on, and nothing else', async () => {
    const rig = await start({
      settings: {
        webauthnMode: 'off',
        registrationTermsVersion: '2026',
      },
    })
    const operator = await rig.open('operator', '/')
    await operator.getByRole('link', { name: 'Forgot your password?' }).waitFor()
    expect(await operator.getByRole('link', { name: 'Create an account' }).count()).toBe(0)
    expect(await operator.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0)
    const client = await rig.open('client', '/register')
    await client.getByLabel('E-mail address').fill(email)
    await client.getByLabel('Password').fill(password)
    await client.getByRole('button', { name: 'Create the account' }).click()
    await client.getByText('Please tick this.').waitFor()
    await client.getByLabel('I accept the terms, version 2026').check()
    await expectAccessible(client)
    await client.getByRole('button', { name: 'Create the account' }).click()
    await seeHeading(client, 'Open the link in the mail')
  })
})
