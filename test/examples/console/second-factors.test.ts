import { generateSync } from 'otplib'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import {
  type ConsoleRig,
  consoleRigs,
  expectAccessible,
  password,
  seeHeading,
  signIn,
} from './console-rig.js'

const start = consoleRigs()
const email = 'ada@example.org'

const codeField = (page: Page) => page.getByLabel('Code of your authenticator app')

/** What the app shows now. */
function codeOf({ clock }: ConsoleRig, secret: string): string {
  return generateSync({ secret, epoch: Math.floor(clock.now() / 1000) })
}

/** What it shows next: a code is good once. */
async function nextCode(rig: ConsoleRig, secret: string): Promise<string> {
  await rig.clock.advance(30_000)
  return codeOf(rig, secret)
}

async function shownSecret(page: Page): Promise<string> {
  return (await page.locator('.secret').innerText()).replaceAll(' ', '')
}

/** Adds an app at the security page; the secret and the backup codes. */
async function addApp(rig: ConsoleRig, page: Page) {
  await page.getByRole('link', { name: 'Security' }).click()
  const part = page.getByRole('region', { name: 'Authenticator app' })
  await part.getByLabel('Your password').fill(password)
  await part.getByRole('button', { name: 'Add an authenticator app' }).click()
  const secret = await shownSecret(page)
  await codeField(page).fill(codeOf(rig, secret))
  await page.getByRole('button', { name: 'Add the app' }).click()
  await seeHeading(page, 'Your backup codes')
  const backupCodes = await page.locator('.codes li').allInnerTexts()
  return { secret, backupCodes }
}

describe.skipIf(isChromiumMissing)('I17-6 second factors at the console, in chromium', () => {
  it('an authenticator app is added by its QR code, asked for, and removed', async () => {
    const rig = await start()
    await rig.account('client', email)
    const page = await rig.open('client', '/')
    await signIn(page, email)
    await seeHeading(page, 'Your account')
    const { secret } = await addApp(rig, page)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await page.getByText('There is one.').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, email)
    await seeHeading(page, 'Your second factor')
    await codeField(page).fill('000000')
    await page.getByRole('button', { name: 'Sign in', exact: true }).first().click()
    await page.getByText('This code is not right').waitFor()
    expect(await codeField(page).getAttribute('aria-invalid')).toBe('true')
    await expectAccessible(page)
    await codeField(page).fill(await nextCode(rig, secret))
    await page.getByRole('button', { name: 'Sign in', exact: true }).first().click()
    await seeHeading(page, 'Security')
    await page.getByRole('button', { name: 'Remove the app' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('The authenticator app is removed.').waitFor()
    await page.getByRole('button', { name: 'Add an authenticator app' }).waitFor()
  })
})
