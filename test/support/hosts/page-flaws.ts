import { readFileSync } from 'node:fs'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import type { ContactSheets } from './contact-sheets.js'

const script = readFileSync(new URL('flaws-in-page.js', import.meta.url), 'utf8')

/** Each differs from the one before by one thing, since each change draws the page again. */
const looks = [
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
  { width: 1280, height: 850, colorScheme: 'dark' },
  { width: 1280, height: 850, colorScheme: 'light' },
] as const

/**
 * What a program can tell to be wrong with a page as it is shown: templates that were not filled in, what reaches
 * beyond an edge, texts that are faint (WCAG 2, AA), charts that are invisible, black or illegible, and targets that
 * a finger misses. Says of each what it is, and where.
 */
export function pageFlaws(page: Page): Promise<readonly string[]> {
  return page.evaluate(script)
}

/** What keeps people with disabilities out, as far as axe can tell: its serious and critical violations. */
export async function accessFlaws(page: Page, withContrast = true): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const rules = JSON.stringify({ 'color-contrast': { enabled: withContrast } })
  return page.evaluate(`axe.run({ resultTypes: ['violations'], rules: ${rules} })
    .then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`)
}

/** Both of them, of the page that is open: on a desktop and on a phone, in light and in dark. */
export async function flawsOfEachLook(
  page: Page,
  name: string,
  sheets: ContactSheets,
): Promise<readonly string[]> {
  const flaws: string[] = []
  for (const { colorScheme, ...size } of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize(size)
    const look = `${name}, ${size.width} px, ${colorScheme}`
    flaws.push(...(await pageFlaws(page)).map((flaw) => `${look}: ${flaw}`))
    await sheets.keep(page, look)
  }
  // Once, since it reads elements and not looks, and without its contrast, for which it needs seconds.
  flaws.push(...(await accessFlaws(page, false)).map((flaw) => `${name}: ${flaw}`))
  return flaws
}

/**
 * What the browser complains of from now on, violations of the content security policy too. With `origins`, pages of
 * others may have errors.
 */
export function pageErrors(page: Page, origins?: readonly string[]): readonly string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    const { url } = message.location()
    if (url !== '' && origins?.includes(new URL(url).origin) === false) return
    // The browser notes each refusal of the API, whatever the page makes of it.
    const isRefusal =
      /status of 4\d\d/.test(message.text()) && /^\/(v1|api)\//.test(new URL(url).pathname)
    if (!isRefusal) errors.push(`${message.text()} (${url})`)
  })
  return errors
}

/** Such complaints fail the test at its end. */
export function failOnErrors(page: Page, origins?: readonly string[]): void {
  const errors = pageErrors(page, origins)
  onTestFinished(() => expect(errors).toEqual([]))
}
