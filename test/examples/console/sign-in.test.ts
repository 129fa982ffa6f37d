import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { addApp, codeField } from './authenticator-app.js'
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

/** Presses Tab until this has the focus; fails when it never gets it. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let pressed = 0; pressed < 15; pressed += 1) {
    await page.keyboard.press('Tab')
    if (await hasFocus(page, selector)) return
  }
  expect.fail(`the keyboard never reaches ${selector}`)
}

const hasFocus = (page: Page, selector: string) =>
  page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`)

/** Whether the element with the focus shows that it has it. */
const outlineWidth = (page: Page) =>
  page.evaluate<string>('getComputedStyle(document.activeElement).outlineWidth')

describe.skipIf(isChromiumMissing)('signing in at the console, in chromium', () => {
  it.each(['client', 'operator'] as const)('by a password, %s', async (surface) => {
    const rig = await start()
    await rig.account(surface, email)
    const page = await rig.open(surface, '/security')
    await seeHeading(page, 'Sign in')
    await expectAccessible(page)
    await picture(page, `sign-in-${surface}`)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Please fill this in.').first().waitFor()
    await signIn(page, email, 'not the right passphrase')
    await page.getByText('The e-mail address or the password is not right.').waitFor()
    await expectAccessible(page)
    await signIn(page, email)
    // The page that was asked for, and not the first one.
    await seeHeading(page, 'Security')
    await expectAccessible(page)
    await page.reload()
    await seeHeading(page, 'Security')
    await signOut(page)
  })

  it.each([
    ['client', 'Your account', '/account'],
    ['operator', 'Users', '/users'],
  ] as const)('leads to the first page of the surface, %s', async (surface, heading, path) => {
    const rig = await start()
    await rig.account(surface, email, 'super_admin')
    for (const from of ['/', '/login']) {
      const page = await rig.open(surface, from)
      await signIn(page, email)
      await seeHeading(page, heading)
      expect(new URL(page.url()).pathname).toBe(path)
      await page.getByRole('link', { name: 'Security', exact: true }).click()
      await seeHeading(page, 'Security')
      await page.getByRole('link', { name: /^Postern/ }).click()
      await seeHeading(page, heading)
    }
  })

  it('takes away the notice that the user before is signed out', async () => {
    const rig = await start()
    await rig.account('client', email)
    const page = await rig.open('client', '/')
    await signIn(page, email)
    await seeHeading(page, 'Your account')
    await signOut(page)
    await page.getByText('You are signed out.').waitFor()
    await signIn(page, email)
    await seeHeading(page, 'Your account')
    expect(await page.getByText('You are signed out.').count()).toBe(0)
  })

  it('by the keyboard alone, with a second factor', async () => {
    const rig = await start()
    await rig.account('client', email)
    const setUp = await rig.open('client', '/')
    await signIn(setUp, email)
    const app = await addApp(rig, setUp)
    const page = await rig.open('client', '/')
    await page.locator('[name=email]').waitFor()
    await tabTo(page, '[name=email]')
    expect(await outlineWidth(page)).toBe('3px')
    await page.keyboard.type(email)
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await seeHeading(page, 'Your second factor')
    expect(await hasFocus(page, '[name=code]')).toBe(true)
    await page.keyboard.type('000000')
    await page.keyboard.press('Enter')
    await page.getByText('This code is not right').waitFor()
    expect(await hasFocus(page, '[name=code]')).toBe(true)
    await page.keyboard.press('Control+A')
    await page.keyboard.type(await app.nextCode())
    await page.keyboard.press('Enter')
    await seeHeading(page, 'Your account')
    expect(await hasFocus(page, 'h1')).toBe(true)
    await page.keyboard.press('Shift+Tab')
    await tabTo(page, 'nav a[href="/security"]')
    await page.keyboard.press('Enter')
    await seeHeading(page, 'Security')
    expect(await page.title()).toBe('Security · Postern')
  })

  it('a password that is too old is replaced on the way', async () => {
    const rig = await start({ settings: { passwordMaxAge: '30d' } })
    await rig.account('client', email)
    await rig.clock.advance(31 * 86_400_000)
    const page = await rig.open('client', '/')
    await signIn(page, email)
    await seeHeading(page, 'Your password is too old')
    await expectAccessible(page)
    await page.getByLabel('New password').fill('another fine passphrase')
    await page.getByRole('button', { name: 'Save the password' }).click()
    await page.getByText('Your password is saved.').waitFor()
    await signIn(page, email, 'another fine passphrase')
    await seeHeading(page, 'Your account')
  })

  it('a sign-in that took too long says so, and begins again', async () => {
    const rig = await start()
    await rig.account('client', email)
    const page = await rig.open('client', '/')
    await signIn(page, email)
    const app = await addApp(rig, page)
    await signOut(page)
    await signIn(page, email)
    await seeHeading(page, 'Your second factor')
    await rig.clock.advance(600_000)
    await codeField(page).fill(await app.nextCode())
    await page.getByRole('button', { name: 'Sign in', exact: true }).first().click()
    await page.getByText('This sign-in took too long').waitFor()
    await page.getByRole('link', { name: 'Back to the sign-in' }).click()
    await signIn(page, email)
    await codeField(page).fill(await app.nextCode())
    await page.getByRole('button', { name: 'Sign in', exact: true }).first().click()
    await seeHeading(page, 'Security')
  })
})
