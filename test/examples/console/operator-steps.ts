import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type AuthenticatorApp, addApp, codeField } from './authenticator-app.js'
import { type ConsoleRig, expectAccessible, seeHeading, signIn } from './console-rig.js'

export const adminEmail = 'ada@example.org'

/** An operator at the console, with an app whose codes prove who it is. */
export interface SeatedOperator {
  readonly page: Page
  readonly app: AuthenticatorApp
}

/** A `super_admin`, signed in, who has just added an app and has not shown a code since. */
export async function seatedAdmin(
  rig: ConsoleRig,
  width: 'wide' | 'narrow' = 'wide',
): Promise<SeatedOperator> {
  await rig.account('operator', adminEmail, 'super_admin')
  const page = await rig.open('operator', '/', { width })
  await signIn(page, adminEmail)
  return { page, app: await addApp(rig, page) }
}

/** Opens a page by the navigation. */
export async function visit(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
  await seeHeading(page, name)
  await settled(page)
}

/** Waits until no part of the page is loading. */
export async function settled(page: Page): Promise<void> {
  await expect.poll(() => page.locator('main [aria-busy]').count()).toBe(0)
}

/** Answers the dialog that asks for a recent second factor. */
export async function proveByApp({ page, app }: SeatedOperator): Promise<void> {
  await seeHeading(page, 'Confirm that it is you')
  await expectAccessible(page)
  await codeField(page).fill(await app.nextCode())
  await page.getByRole('button', { name: 'Confirm', exact: true }).click()
}

/** Presses a button of a dialog that asks before something is done. */
export async function agree(page: Page, action: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click()
}
