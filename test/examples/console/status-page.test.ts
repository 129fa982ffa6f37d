import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { pageFlaws } from '../../support/hosts/page-flaws.js'
import {
  consoleRigs,
  expectAccessible,
  password,
  picture,
  seeHeading,
  signIn,
} from './console-rig.js'

const start = consoleRigs()
const minute = 60_000

/** The cells of the newest minute in the table of a plot. */
async function newest(page: Page, title: string): Promise<readonly string[]> {
  const part = page.getByRole('region', { name: title, exact: true })
  await part.getByText('The same as a table').click()
  const cells = part.getByRole('row').nth(1).getByRole('cell')
  await cells.first().waitFor()
  return cells.allInnerTexts()
}

describe.skipIf(isChromiumMissing)('the status page of the console, in chromium', () => {
  it.each(['wide', 'narrow'] as const)('plots what this process measured: %s', async (width) => {
    const rig = await start()
    const { clientUrl, operatorUrl } = rig.host
    await rig.account('client', 'bob@example.org')
    await rig.account('operator', 'ada@example.org', 'administrator')
    const login = (given: string) =>
      fetch(`${clientUrl}/v1/auth/client/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: clientUrl },
        body: JSON.stringify({ email: 'bob@example.org', password: given }),
      })
    const page = await rig.open('operator', '/status', { width })
    await signIn(page, 'ada@example.org')
    await seeHeading(page, 'Status')
    await page.getByText(`These are the figures of process ${process.pid} alone`).waitFor()
    for (let count = 0; count < 3; count += 1) {
      for (let more = 0; more <= count; more += 1) await login(password)
      await login('wrong password')
      // The text is there from the round before.
      const read = page.waitForResponse(/\/status$/)
      await page.getByRole('button', { name: 'Refresh', exact: true }).click()
      await (await read).finished()
      await page.getByText('The figures are of this moment.').waitFor()
      if (count < 2) await rig.clock.advance(minute)
    }
    await page.goto(`${operatorUrl}/status`)
    await seeHeading(page, 'Sign-ins a minute')
    await picture(page, `status-${width}`)
    expect(await pageFlaws(page)).toEqual([])
    const units = await page.locator('.plot svg text:first-child').allTextContents()
    expect(units.join()).toBe('sign-ins,refreshes,passwords,ms,tokens')
    expect(await newest(page, 'Sign-ins a minute')).toEqual(['3', '0', '1'])
    // That of the page's own reload.
    expect((await newest(page, 'Refreshes a minute'))[0]).toMatch(/^[0-9]+$/)
    expect(await newest(page, 'Passwords that wait')).toEqual(['0', '0'])
    expect(await newest(page, 'Expired tokens that are still stored')).toEqual(['–'])
    const [slowest = ''] = await newest(page, 'Slowest of a hundred (p99)')
    expect(Number(slowest)).toBeGreaterThan(0)
    const lines = page.getByRole('region', { name: 'Sign-ins a minute' }).locator('polyline')
    const points = await lines.first().getAttribute('points')
    const heights = (points ?? '').split(' ').map((point) => Number(point.split(',')[1]))
    expect(heights).toHaveLength(3)
    // More sign-ins stand higher, and up is less.
    expect(heights).toEqual([...heights].sort((a, b) => b - a))
    await expectAccessible(page)
  })

  it('is refused to an operator without the permission, in words', async () => {
    const rig = await start()
    await rig.account('operator', 'bob@example.org')
    const page = await rig.open('operator', '/status')
    await signIn(page, 'bob@example.org')
    await page.getByText('It needs the permission console.status.read.').waitFor()
    await expectAccessible(page)
  })
})
