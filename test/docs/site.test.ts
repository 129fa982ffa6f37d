import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import config from '../../docs/.vitepress/config.js'
import { isChromiumMissing, visitors } from '../support/hosts/browser.js'
import { contactSheets } from '../support/hosts/contact-sheets.js'
import { accessFlaws, failOnErrors, flawsOfEachLook } from '../support/hosts/page-flaws.js'
import { listen } from '../support/hosts/running-host.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const site = mkdtempSync(join(tmpdir(), 'postern-site-'))

const groups = config.themeConfig?.sidebar
const menu = Array.isArray(groups) ? groups.flatMap(({ items = [] }) => items) : []

/** The address of each page of the site, as `/sessions`; the first page is `/`. */
let built: ReadonlyMap<string, string> = new Map()

/** The address of a page by its file: `/` for `index.html`, `/a/` for `a/index.html`, `/a/b` for `a/b.html`. */
const addressOf = (file: string, ending: string): string =>
  `/${file.slice(0, -ending.length)}`.replace(/\/index$/, '/')

beforeAll(async () => {
  const vitepress = join(root, 'node_modules/vitepress/bin/vitepress.js')
  await promisify(execFile)(process.execPath, [vitepress, 'build', 'docs', '--outDir', site], {
    cwd: root,
    // Vitest's own settings would reach the build.
    env: { PATH: process.env['PATH'] },
  })
  const names = readdirSync(site, { encoding: 'utf8', recursive: true }).filter(
    (name) => name.endsWith('.html') && name !== '404.html',
  )
  built = new Map(
    names.map((name) => [addressOf(name, '.html'), readFileSync(join(site, name), 'utf8')]),
  )
}, 120_000)

afterAll(() => rmSync(site, { recursive: true, force: true }))

/** What the attributes of a page say, without the escapes of HTML. */
const attributes = (html: string, name: string): readonly string[] =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  )

describe('the static site of the pages', () => {
  it('has each page of the repository once, and each stands in the menu', () => {
    const own = readdirSync(join(root, 'docs'), { encoding: 'utf8', recursive: true })
      .filter((name) => name.endsWith('.md') && !name.startsWith('.vitepress/'))
      .map((name) => addressOf(name.replace('README.md', 'index.md'), '.md'))
    const others = ['/', '/changes', '/contributing', '/demo', '/examples', '/security']
    expect([...built.keys()].toSorted()).toEqual([...own, ...others].toSorted())
    expect(menu.map(({ link }) => link).toSorted()).toEqual([...built.keys()].toSorted())
  })

  it('calls each page in its menu what its heading calls it, or begins to', () => {
    const others = menu.flatMap(({ text = '', link = '' }) => {
      const [, heading = ''] = /<h1[^>]*>(.*?) <a/s.exec(built.get(link) ?? '') ?? []
      // Decisions have their numbers in front.
      return heading.startsWith(text.replace(/^\d+\. /, '')) ? [] : [`${text}: ${heading}`]
    })
    expect(others).toEqual([])
  })

  it('leads from each link to a page, and to a heading of it', () => {
    const dead = [...built].flatMap(([address, html]) =>
      attributes(html, 'href')
        .filter((href) => /^[/#]/.test(href) && !href.startsWith('/assets/'))
        .filter((href) => {
          const [path = '', heading] = href.split('#')
          const page = built.get(path === '' ? address : path)
          if (page === undefined) return !existsSync(join(site, path))
          const id = heading === undefined ? undefined : decodeURIComponent(heading)
          return id !== undefined && !attributes(page, 'id').includes(id)
        })
        .map((href) => `${address}: ${href}`),
    )
    expect(dead).toEqual([])
  })

  it('has its title in the header of each page, and shows `{{` where a page has it', () => {
    for (const [address, html] of built) {
      const [, header = ''] =
        /<div class="VPNavBarTitle.*?<span[^>]*>(.*?)<\/span>/s.exec(html) ?? []
      expect(header, address).toBe('Postern')
    }
    expect(built.get('/mails')).toContain('<code>{{</code>')
  })

  it('loads nothing from elsewhere, and shows the pictures of the pages', () => {
    for (const html of built.values()) {
      const loaded = [
        ...attributes(html, 'src'),
        ...[...html.matchAll(/<link [^>]*>/g)].flatMap(([tag]) => attributes(tag, 'href')),
      ]
      expect(loaded.filter((address) => /^(https?:)?\/\//.test(address))).toEqual([])
      const files = loaded.filter((address) => !address.startsWith('data:'))
      expect(files.filter((address) => !existsSync(join(site, address)))).toEqual([])
    }
    expect(built.get('/demo')).toMatch(/<img src="\/assets\/console-operators\.[^"]+\.png"/)
  })

  it('has no diagram that it would show as the text of its source', () => {
    const languages = [...built].flatMap(([address, html]) =>
      attributes(html, 'class')
        .filter((names) => /language-(mermaid|plantuml|dot|graphviz)\b/.test(names))
        .map(() => address),
    )
    expect(languages).toEqual([])
  })
})

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
}

/** Serves the site as a static host does that knows clean addresses; its address. */
async function served(): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    const [path = ''] = url.split('?')
    const name = path.endsWith('/') ? `${path}index.html` : path
    const file = join(site, extname(name) === '' ? `${name}.html` : name)
    if (!existsSync(file)) response.writeHead(404).end()
    else {
      const type = types[extname(file)] ?? 'application/octet-stream'
      response.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=600' })
      response.end(readFileSync(file))
    }
  })
  const { url, close } = await listen(server)
  onTestFinished(close)
  return url
}

describe.skipIf(isChromiumMissing)('the static site, in chromium', () => {
  const { arrive } = visitors()

  it('shows each page whole and legible, on a desktop and on a phone, in light and in dark', async () => {
    const sheets = contactSheets('site')
    const url = await served()
    const page = await (await arrive()).newPage()
    failOnErrors(page)
    const flaws: string[] = []
    for (const address of built.keys()) {
      await page.goto(url + address)
      await page.waitForFunction('"__vue_app__" in document.querySelector("#app")')
      flaws.push(...(await flawsOfEachLook(page, address, sheets)))
    }
    // Its header, which is another one there, is the same on each page.
    await page.setViewportSize({ width: 390, height: 844 })
    flaws.push(...(await accessFlaws(page)))
    await sheets.write(page)
    expect(flaws).toEqual([])
  }, 600_000)
})
