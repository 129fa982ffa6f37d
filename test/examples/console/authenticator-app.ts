import { generateSync } from 'otplib'
import type { Locator, Page } from 'playwright-core'
import { type ConsoleRig, password, seeHeading } from './console-rig.js'

/** A user's authenticator app, and the backup codes that came with it. */
export interface AuthenticatorApp {
  readonly backupCodes: readonly string[]
  /** The next code that it shows: each is good once. */
  nextCode(): Promise<string>
}

export const codeField = (page: Page): Locator => page.getByLabel('Code of your authenticator app')

/** The code that belongs to the secret on the page. */
export async function shownCode(rig: ConsoleRig, page: Page): Promise<string> {
  return codeOf(rig, await shownSecret(page))
}

async function shownSecret(page: Page): Promise<string> {
  return (await page.locator('.secret').innerText()).replaceAll(' ', '')
}

function codeOf({ clock }: ConsoleRig, secret: string): string {
  return generateSync({ secret, epoch: Math.floor(clock.now() / 1000) })
}

/** Begins at the security page, up to the QR code. */
export async function beginApp(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Security' }).click()
  const part = page.getByRole('region', { name: 'Authenticator app' })
  await part.getByLabel('Your password').fill(password)
  await part.getByRole('button', { name: 'Add an authenticator app' }).click()
  await codeField(page).waitFor()
}

/** Gives the code to the secret on the page, and reads the backup codes. */
export async function confirmApp(rig: ConsoleRig, page: Page): Promise<AuthenticatorApp> {
  const secret = await shownSecret(page)
  await codeField(page).fill(codeOf(rig, secret))
  await page.getByRole('button', { name: 'Add the app' }).click()
  await seeHeading(page, 'Your backup codes')
  const backupCodes = await page.locator('.codes li').allInnerTexts()
  return {
    backupCodes,
    async nextCode() {
      await rig.clock.advance(30_000)
      return codeOf(rig, secret)
    },
  }
}

/** Adds an app at the security page, and closes the backup codes. */
export async function addApp(rig: ConsoleRig, page: Page): Promise<AuthenticatorApp> {
  await beginApp(page)
  const app = await confirmApp(rig, page)
  await page.getByRole('button', { name: 'I have kept them' }).click()
  await page.getByText('There is one.').waitFor()
  return app
}
