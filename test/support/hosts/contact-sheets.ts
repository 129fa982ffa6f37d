import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'

/** Pictures of pages side by side, for an eye that goes over all of them. */
export interface ContactSheets {
  /** Adds a picture of the page that is open, with a caption. */
  keep(page: Page, caption: string): Promise<void>
  /** Writes the sheets, for which it uses the page. */
  write(page: Page): Promise<void>
}

interface Picture {
  readonly caption: string
  readonly width: number
  readonly png: string
}

const perSheet = 12

/** Does nothing unless `npm run generate -- contact-sheets` asks for sheets: below the folder that it names. */
export function contactSheets(name: string): ContactSheets {
  const folder = process.env['CONTACT_SHEETS']
  if (folder === undefined) return { keep: async () => {}, write: async () => {} }
  const pictures: Picture[] = []
  return {
    async keep(page, caption) {
      const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
      const length = await page.evaluate<number>('document.documentElement.scrollHeight')
      // As in a tall window: what sticks to an edge stands where it belongs.
      await page.setViewportSize({ width, height: Math.min(Math.max(length, height), 1700) })
      const path = `${folder}/pages/${name}-${pictures.length}.png`
      const png = (await page.screenshot({ path })).toString('base64')
      await page.setViewportSize({ width, height })
      pictures.push({ caption: `${pictures.length}: ${caption}`, width, png })
    },
    async write(page) {
      mkdirSync(folder, { recursive: true })
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto('about:blank')
      for (const width of new Set(pictures.map((picture) => picture.width))) {
        const some = pictures.filter((picture) => picture.width === width)
        const columns = width < 500 ? 6 : 4
        for (let at = 0; at < some.length; at += perSheet) {
          await page.setViewportSize({ width: 1500, height: 100 })
          await page.setContent(sheet(some.slice(at, at + perSheet), columns))
          const number = String(at / perSheet + 1).padStart(2, '0')
          await page.screenshot({
            path: `${folder}/${name}-${width}-${number}.png`,
            fullPage: true,
          })
        }
      }
    },
  }
}

const sheet = (pictures: readonly Picture[], columns: number): string => `<style>
  body { display: grid; grid-template-columns: repeat(${columns}, minmax(0, 1fr)); gap: 12px; background: #999; font: 14px sans-serif }
  figure { margin: 0; overflow-wrap: anywhere }
  img { width: 100%; outline: 1px solid #333 }
</style>
${pictures.map(({ caption, png }) => `<figure><figcaption>${caption}</figcaption><img src="data:image/png;base64,${png}" alt=""></figure>`).join('\n')}`
