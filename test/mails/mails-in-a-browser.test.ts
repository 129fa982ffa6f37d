import axe from 'axe-core'
import { describe, expect, it } from 'vitest'
import { mailWriter } from '../../src/mails/index.js'
import type { Mail } from '../../src/ports/host.js'
import { isChromiumMissing, visitors } from '../support/hosts/browser.js'
import { sampleMails, sentAt } from './sample-mails.js'

const write = mailWriter({ product: 'Acme', supportAddress: 'help@acme.example' })

/**
 * Every rule of axe, with those that are advice alone, but for the landmarks of a page: a mail is shown within the page
 * of a mail program, which has them.
 */
const check = `axe.run({ rules: { region: { enabled: false }, 'landmark-one-main': { enabled: false } } })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`

describe.skipIf(isChromiumMissing)('the mails in chromium', () => {
  const { arrive } = visitors()

  it.each(['light', 'dark'] as const)(
    'keep no one out, in a %s page, and ask for nothing',
    async (colorScheme) => {
      const page = await (await arrive()).newPage()
      await page.emulateMedia({ colorScheme })
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      const found: string[] = []
      for (const mail of sampleMails) {
        for (const locale of ['en', 'de']) {
          await page.setContent(write(mail, { locale }).html)
          await page.evaluate(axe.source)
          found.push(...(await page.evaluate<readonly string[]>(check)))
        }
      }
      expect(found).toEqual([])
      expect(asked).toEqual([])
      const colours = { light: 'rgb(255, 255, 255)', dark: 'rgb(34, 37, 42)' }
      const shown = "getComputedStyle(document.querySelector('.card')).backgroundColor"
      expect(await page.evaluate(shown)).toBe(colours[colorScheme])
    },
  )

  it('fit a telephone: nothing reaches over the edge, however long', async () => {
    const page = await (await arrive()).newPage()
    await page.setViewportSize({ width: 320, height: 640 })
    const to = { surface: 'client', to: 'ada@example.org', name: 'x'.repeat(80) } as const
    const address = { url: `https://app.example.com/login/${'x'.repeat(500)}` }
    const newEmail = `${'x'.repeat(64)}@${'x'.repeat(63)}.example`
    const long: readonly Mail[] = [
      { ...to, template: 'accountExists', data: address },
      { ...to, template: 'emailChanged', data: { at: sentAt, newEmail } },
    ]
    for (const mail of [...sampleMails, ...long]) {
      await page.setContent(write(mail).html)
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      expect(width).toBeLessThanOrEqual(320)
    }
  })
})
