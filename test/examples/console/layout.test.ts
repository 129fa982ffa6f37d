import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { pageFlaws } from '../../support/hosts/page-flaws.js'
import {
  consoleRigs,
  expectAccessible,
  picture,
  seeHeading,
  seeHome,
  signIn,
} from './console-rig.js'

const start = consoleRigs()
const email = 'ada@example.org'
const long = 'somebody.with.a.rather.long.name@mail.department.example.org'
const own = ['Security', 'Sessions', 'Linked providers']
const names = [...own, 'Users', 'Service accounts', 'Roles', 'Audit log', 'Configuration', 'Status']

async function box(page: Page, selector: string) {
  const found = await page.locator(selector).boundingBox()
  if (found === null) throw new Error(`${selector} is not shown`)
  return found
}

describe.skipIf(isChromiumMissing)('the layout of the console, in chromium', () => {
  it.each(['wide', 'narrow'] as const)('fits a window that is %s', async (width) => {
    const rig = await start()
    const id = await rig.account('operator', long, 'super_admin')
    // So that the top of the page shows the address.
    await rig.host.auth.operator.users.update(id, { name: '' })
    await rig.account('client', long)
    const page = await rig.open('operator', '/', { width })
    await page.locator('[name=email]').waitFor()
    expect(await pageFlaws(page)).toEqual([])
    await signIn(page, long)
    await seeHome(page, 'operator')
    for (const name of names) {
      await page.getByRole('link', { name, exact: true }).click()
      await seeHeading(page, name)
      await expect.poll(() => page.locator('main [aria-busy]').count()).toBe(0)
      expect(await pageFlaws(page)).toEqual([])
    }
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByRole('link', { name: long, exact: true }).click()
    await seeHeading(page, 'User')
    await expect.poll(() => page.locator('main [aria-busy]').count()).toBe(0)
    expect(await pageFlaws(page)).toEqual([])
    const [nav, main] = [await box(page, 'nav'), await box(page, 'main')]
    if (width === 'wide') expect(nav.x + nav.width).toBeLessThanOrEqual(main.x)
    else expect(nav.y + nav.height).toBeLessThanOrEqual(main.y)
  })

  it('has enough contrast in the dark as well', async () => {
    const rig = await start()
    await rig.account('client', email)
    const page = await rig.open('client', '/')
    await page.emulateMedia({ colorScheme: 'dark' })
    await signIn(page, email)
    await page.getByRole('link', { name: 'Security' }).click()
    await page.getByText('Once you have a second factor').waitFor()
    await expectAccessible(page)
    await picture(page, 'security-dark')
  })

  it('says that there is no such page, and leads back', async () => {
    const rig = await start()
    const page = await rig.open('client', '/nowhere')
    await seeHeading(page, 'There is no such page')
    await expectAccessible(page)
    await page.getByRole('link', { name: 'To the first page' }).click()
    await seeHeading(page, 'Sign in')
    await page.goBack()
    await seeHeading(page, 'There is no such page')
  })

  it('says the same for an address with a broken escape, and goes on from there', async () => {
    const rig = await start()
    const page = await rig.open('operator', '/configuration/%zz')
    await seeHeading(page, 'There is no such page')
    await page.getByRole('link', { name: 'To the first page' }).click()
    await seeHeading(page, 'Sign in')
  })
})
