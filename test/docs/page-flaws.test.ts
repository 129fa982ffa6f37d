import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isChromiumMissing, visitors } from '../support/hosts/browser.js'
import { accessFlaws, pageErrors, pageFlaws } from '../support/hosts/page-flaws.js'

const style = readFileSync(
  new URL('../../examples/console/pages/console.css', import.meta.url),
  'utf8',
)
const chart = `<section class="plot"><svg viewBox="0 0 400 196" role="img" aria-label="A chart">
  <line class="grid" x1="60" x2="392" y1="36" y2="36"></line>
  <text x="0" y="17">ms</text>
  <polyline class="line line-0" points="60,160 200,40 392,120"></polyline>
  <circle class="dot line-1" cx="60" cy="60" r="3"></circle>
</svg></section>`
const table = `<table><caption>Figures</caption><tr>${'<th scope="col">A column of words</th>'.repeat(12)}</tr></table>`

const page = (body: string, css = style) => `<!doctype html><html lang="en"><head>
  <meta name="viewport" content="width=device-width"><title>A page</title><style>${css}</style>
</head><body><header>Postern</header><main><h1>A page</h1>${body}</main></body></html>`

describe.skipIf(isChromiumMissing)('what a program sees wrong with a page, in chromium', () => {
  const { arrive } = visitors()

  async function shown(html: string) {
    const one = await (await arrive()).newPage()
    await one.setViewportSize({ width: 390, height: 844 })
    await one.setContent(html)
    return one
  }

  it('is nothing in a page that is sound', async () => {
    const sound = `${chart}<p>Write <code>{{ name }}</code>.</p>
      <p><label for="a">Name</label><input id="a" placeholder="such as Ada"></p>
      <svg width="20" height="20" viewBox="0 0 20 20"><rect width="20" height="20" fill="#fff" /><path d="M2 2h9v9z" fill="#000" /></svg>`
    for (const colorScheme of ['light', 'dark'] as const) {
      const one = await shown(page(sound))
      await one.emulateMedia({ colorScheme })
      expect(await pageFlaws(one)).toEqual([])
      expect(await accessFlaws(one)).toEqual([])
    }
  })

  it.each<[fault: string, flaw: RegExp, html: string]>([
    [
      'a template in the header',
      /^a template is left: <header>/,
      page('').replace('Postern', '{{ site.title }}'),
    ],
    [
      'a template in the title',
      /^a template is left: /,
      page('').replace('<title>A page', '<title>{{ title }}'),
    ],
    ['a table that makes the page wider', /^wider than the window$/, page(table)],
    [
      'a table that is cut off',
      /^cut off: <div style="overflow: hidden/,
      page(`<div style="overflow: hidden">${table}</div>`),
    ],
    ['a table that scrolls', /^columns out of sight/, page(`<div class="scroll">${table}</div>`)],
    [
      'a box that hides its last lines',
      /^cut off: <p style/,
      page('<p style="height: 1rem; overflow-y: hidden">One line<br>and another</p>'),
    ],
    [
      'a part beyond the left edge',
      /^beyond the edge: <p style/,
      page('<p style="margin-left: -9rem">Words</p>'),
    ],
    [
      'a text in the colour of its ground',
      /^a contrast of 1\.00: <p style/,
      page('<p style="color: var(--ground)">Words</p>'),
    ],
    [
      'a faint text',
      /^a contrast of 2\.32: <p style/,
      page('<p style="color: #aaa; background: #fff">Words</p>'),
    ],
    [
      'a text that is faint by its opacity',
      /^a contrast of [12]\.\d\d: <p>/,
      page('<div style="opacity: 0.4"><p>Words</p></div>'),
    ],
    [
      'a faint placeholder',
      /^a contrast of 1\.\d\d: <input/,
      page(
        '<input placeholder="such as Ada" aria-label="Name">',
        `${style} ::placeholder { color: #ddd }`,
      ),
    ],
    [
      'a chart that is an area',
      /^a line is drawn as an area: <polyline/,
      page(chart, `${style} .plot polyline { fill: #1f5f5b }`),
    ],
    [
      'a chart that is black',
      /^black: <circle/,
      page(chart, style.replaceAll('.dot.line-1', '.gone')),
    ],
    [
      'a chart without its lines',
      /^a line is not drawn: <polyline/,
      page(chart, `${style} .plot .line { stroke: none }`),
    ],
    [
      'a chart in the colour of its ground',
      /^in the colour of its ground: <polyline/,
      page(chart, `${style} .plot .line { stroke: var(--paper) }`),
    ],
    [
      'a word of a chart that is too small',
      /^too small in a drawing: ms$/,
      page(chart, `${style} .plot text { font-size: 9px }`),
    ],
    [
      'a target that a finger misses',
      /^too small a target: <button/,
      page(
        '<button style="min-height: 0; padding: 0; font-size: 8px">a</button><button>b</button>',
      ),
    ],
    [
      'a style sheet that lacks a brace',
      /^a line is drawn as an area: <polyline/,
      page(chart, style.replace(/(dl\.small \{\n {2}grid-template-columns: auto[^}]*)\}/, '$1')),
    ],
  ])('is %s', async (_fault, flaw, html) => {
    const flaws = await pageFlaws(await shown(html))
    expect(flaws).toContainEqual(expect.stringMatching(flaw))
  })

  it('is a control without a name', async () => {
    const flaws = await accessFlaws(await shown(page('<input>')))
    expect(flaws).toEqual([expect.stringMatching(/^label: <input>/)])
  })

  it('is an error of the page or on the console, but not a refusal of the API', async () => {
    const one = await shown(page(''))
    const errors = pageErrors(one, ['https://host.example'])
    const body = '<link rel="icon" href="data:,">'
    const gone = { status: 404, contentType: 'text/html', body }
    await one.route('https://*.example/**', (route) => route.fulfill(gone))
    await one.goto('https://host.example/v1/refused')
    await one.goto('https://other.example/missing')
    await one.goto('https://host.example/missing')
    await one.evaluate('console.error("a fault")')
    await one.evaluate('setTimeout(() => { throw new Error("another fault") })')
    await expect.poll(() => errors.length).toBe(3)
    expect(errors).toEqual([
      expect.stringMatching(/404.*missing/),
      expect.stringMatching(/^a fault/),
      'Error: another fault',
    ])
  })
})
