import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import {
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

/** Gives the browser an authenticator that asks for no finger (WebAuthn §11); refuses from `refuse(true)` on. */
async function virtualAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    verifies: (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  }
}

describe.skipIf(isChromiumMissing)('passkeys at the console, in chromium', () => {
  it.each(['client', 'operator'] as const)(
    'one is added, signs in alone and after a password, and is removed, %s',
    async (surface) => {
      const rig = await start()
      await rig.account(surface, email)
      const page = await rig.open(surface, '/')
      await virtualAuthenticator(page)
      await signIn(page, email)
      await page.getByRole('link', { name: 'Security' }).click()
      const part = page.getByRole('region', { name: 'Passkeys' })
      await part.getByLabel('Name of the new passkey').fill('This laptop')
      await part.getByLabel('Your password').fill(password)
      await part.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByRole('rowheader', { name: 'This laptop' }).waitFor()
      await expectAccessible(page)
      await picture(page, `passkeys-${surface}`)
      await signOut(page)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.getByRole('rowheader', { name: 'This laptop' }).waitFor()
      await signOut(page)
      await signIn(page, email)
      await seeHeading(page, 'Your second factor')
      expect(await page.getByLabel('Code of your authenticator app').count()).toBe(0)
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Use a passkey' }).click()
      await page.getByRole('rowheader', { name: 'This laptop' }).waitFor()
      // The proof of that sign-in is too old by then.
      await rig.clock.advance(3_600_000)
      await page.getByRole('button', { name: 'Remove This laptop' }).click()
      await page.getByRole('button', { name: 'Remove', exact: true }).click()
      await seeHeading(page, 'Confirm that it is you')
      await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).click()
      await page.getByText('The passkey is removed.').waitFor()
      await page.getByText('There is none yet.').waitFor()
    },
  )

  it('a passkey that is not used is told in words, and the sign-in goes on', async () => {
    const rig = await start()
    await rig.account('client', email)
    const page = await rig.open('client', '/')
    const { verifies } = await virtualAuthenticator(page)
    await signIn(page, email)
    await page.getByRole('link', { name: 'Security' }).click()
    const part = page.getByRole('region', { name: 'Passkeys' })
    await verifies(false)
    await part.getByLabel('Name of the new passkey').fill('This laptop')
    await part.getByLabel('Your password').fill(password)
    await part.getByRole('button', { name: 'Add a passkey' }).click()
    await part.getByText('The passkey was not used').waitFor()
    await expectAccessible(page)
    await verifies(true)
    await part.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('rowheader', { name: 'This laptop' }).waitFor()
  })

  it('where the policy requires a factor, a passkey completes the sign-in', async () => {
    const rig = await start({ settings: { mfaPolicyClient: 'required' } })
    await rig.account('client', email)
    const page = await rig.open('client', '/', { width: 'narrow' })
    await virtualAuthenticator(page)
    await signIn(page, email)
    await seeHeading(page, 'Add a second factor')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await seeHeading(page, 'Your account')
    await expectAccessible(page)
  })
})
