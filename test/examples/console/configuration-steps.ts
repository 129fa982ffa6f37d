import type { Locator, Page } from 'playwright-core'
import { type ConsoleRig, type OpenOptions, seeHeading, signIn } from './console-rig.js'

/** Makes an administrator and opens a page of the configuration as that user. */
export async function administratorAt(
  rig: ConsoleRig,
  path: string,
  { email = 'ada@example.org', ...more }: OpenOptions & { readonly email?: string } = {},
): Promise<Page> {
  await rig.account('operator', email, 'administrator')
  const page = await rig.open('operator', `/configuration${path}`, more)
  await signIn(page, email)
  await page.locator('.page:not([aria-busy])').waitFor()
  return page
}

/** As `administratorAt`, with every setting of an environment in view. */
export async function settingsOf(
  rig: ConsoleRig,
  path: string,
  more?: Parameters<typeof administratorAt>[2],
): Promise<Page> {
  const page = await administratorAt(rig, path, more)
  await seeHeading(page, 'Settings')
  await page.getByText('Nothing has changed.').waitFor()
  return page
}

/** The row of a setting, or the frame of a record list. */
export const rowOf = (page: Page, key: string): Locator => page.locator(`[data-key="${key}"]`)

/** What is typed into: the control of a setting. */
export const controlOf = (page: Page, key: string): Locator => page.locator(`[id="setting-${key}"]`)

export async function save(page: Page, revision: number): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText(`Saved as revision ${revision}.`).waitFor()
}

/** Adds an element to a record list by its name. */
export async function addElement(page: Page, list: string, name: string): Promise<void> {
  await rowOf(page, list)
    .getByLabel(/^Name of a new element/)
    .fill(name)
  await rowOf(page, list).getByRole('button', { name: /^Add/ }).click()
}
