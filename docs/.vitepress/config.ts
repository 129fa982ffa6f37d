import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'

type Item = DefaultTheme.SidebarItem

/** A page of the site: what the menu calls it, which begins its heading, and its file, whose name is its address. */
const page = (text: string, name: string): Item => ({ text, link: `/${name}` })

const group = (text: string, ...items: readonly Item[]): Item => ({ text, items: [...items] })

const sidebar: Item[] = [
  group(
    'Begin',
    page('Postern', ''),
    page('Is it for you', 'choosing'),
    page('Getting started', 'getting-started'),
    page('Quickstarts', 'quickstarts'),
    page('How do I …?', 'how-do-i'),
    page('Tutorial', 'tutorial'),
    page('Testing your host', 'testing'),
    page('Mounting', 'hosts'),
    page('Coming from elsewhere', 'import'),
    page('The command line', 'command-line'),
    page('Examples', 'examples'),
    page('The demo console', 'demo'),
  ),
  group(
    'People',
    page('Accounts', 'accounts'),
    page('Sessions', 'sessions'),
    page('Second factors', 'second-factors'),
    page('Sign-in with a provider', 'oauth'),
    page('Mails', 'mails'),
    page('Permissions', 'permissions'),
    page('Service accounts', 'service-accounts'),
    page('Ways in', 'pathways'),
  ),
  group(
    'Pages and apps',
    page('The client', 'client'),
    page('Server-rendered pages', 'server-rendered'),
    page('Check tokens in other services', 'verify-tokens'),
  ),
  group(
    'Configuration',
    page('Configuration as data', 'config'),
    page('Settings', 'settings'),
    page('Limits', 'limits'),
  ),
  group(
    'Stores',
    page('SQL databases', 'sql'),
    page('Beside your own tables', 'orm'),
    page('MongoDB', 'mongo'),
    page('Redis', 'redis'),
    page('A store of your own', 'custom-store'),
  ),
  group(
    'In production',
    page('Hardening', 'hardening'),
    page('Keys', 'keys'),
    page('Operating', 'operating'),
    page('Scaling out', 'scaling'),
    page('Reliability', 'reliability'),
    page('Performance', 'performance'),
    page('Long runs', 'assurance'),
    page('Threat model', 'threat-model'),
    page('OWASP ASVS 5.0', 'asvs'),
    page('Security', 'security'),
  ),
  group(
    'Reference',
    page('Reference', 'reference'),
    page('Options', 'options'),
    page('Errors', 'errors'),
    page('Events', 'events'),
    page('Glossary', 'glossary'),
    page('Dependencies', 'dependencies'),
    page('Changelog', 'changes'),
    page('Contributing', 'contributing'),
  ),
  group(
    'For maintainers',
    page('Tests', 'maintainers/tests'),
    page('Before you change login', 'maintainers/before-you-change-login'),
    page('Models and simulation', 'maintainers/models'),
    page('Benchmarks', 'maintainers/benchmarks'),
    page('Releases', 'maintainers/releases'),
    page('Decisions', 'maintainers/decisions/'),
    page('1. One guarded write', 'maintainers/decisions/01-guarded-write'),
    page('2. One table of operations', 'maintainers/decisions/02-operation-table'),
    page('3. Intents', 'maintainers/decisions/03-intents'),
    page('4. Epochs', 'maintainers/decisions/04-epochs'),
    page('5. Ten seconds of grace', 'maintainers/decisions/05-grace'),
    page('6. The denylist on every route', 'maintainers/decisions/06-denylist'),
    page('7. Two surfaces', 'maintainers/decisions/07-surfaces'),
    page('8. Configuration by compare-and-set', 'maintainers/decisions/08-configuration'),
    page('9. Own ports, and no ORM', 'maintainers/decisions/09-ports'),
    page('10. What was left out', 'maintainers/decisions/10-left-out'),
  ),
]

/** Where a file of the repository stands on the site. Pages below `docs` keep their names. */
const rewrites: Record<string, string> = {
  'README.md': 'index.md',
  'CHANGELOG.md': 'changes.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'examples/README.md': 'examples.md',
  'examples/console/README.md': 'demo.md',
  'docs/maintainers/decisions/README.md': 'maintainers/decisions/index.md',
  'docs/maintainers/decisions/:page.md': 'maintainers/decisions/:page.md',
  'docs/maintainers/:page.md': 'maintainers/:page.md',
  'docs/:page.md': ':page.md',
}

const sources = new Map(Object.entries(rewrites).map(([source, target]) => [target, source]))

/** A link between files of the repository, as a link between pages of the site. */
function siteLink(href: string, target: string): string {
  const [path = '', heading] = href.split('#')
  if (!path.endsWith('.md') || href.includes('://')) return href
  const source = posix.join(posix.dirname(sources.get(target) ?? `docs/${target}`), path)
  const page = rewrites[source] ?? source.replace(/^docs\//, '')
  return `/${page}${heading === undefined ? '' : `#${heading}`}`
}

interface Token {
  readonly type: string
  readonly content: string
  attrSet(name: string, value: string): void
}

/** Gives the cells of tables the heads of their columns, for windows without room for heads. First cells need none. */
function labelCells(tokens: readonly Token[]): void {
  const heads: string[] = []
  let column = 0
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'thead_open') heads.length = 0
    else if (token.type === 'tr_open') column = 0
    else if (token.type === 'th_open') heads.push(tokens[at + 1]?.content.replaceAll('`', '') ?? '')
    else if (token.type === 'td_open') {
      const head = column === 0 ? '' : heads[column]
      if (head) token.attrSet('data-label', head)
      column += 1
    }
  }
}

/** Lets code go on in the next line behind a mark that divides it, and a long name before a capital or behind `_`. */
const breakable = (html: string): string =>
  html.replaceAll(/>[^<]+</g, (text) =>
    text
      .replaceAll(/\w{14,}/g, (name) => name.replaceAll(/(?<=_)(?=\w)|(?<=[a-z])(?=[A-Z])/g, '<wbr>'))
      .replaceAll(/(?<=[\w}][./:,-]+)(?=[\w{])/g, '<wbr>'),
  )

/** The id of a heading, as the forges make it: the links of the pages hold in both places. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')

const iconFile = new URL('../../examples/console/pages/icon.svg', import.meta.url)
const icon = `data:image/svg+xml;base64,${readFileSync(iconFile, 'base64')}`

/**
 * Where the theme is too faint to read, cuts words off, or shows words that a button is not called. Tables fit the
 * page; on a phone each row is a card, whose cells stand below each other with their heads.
 */
const style = `
  :root { --vp-code-lang-color: var(--vp-c-text-2) }
  .VPDocAsideOutline a.outline-link { line-height: 1.5; padding-block: 4px; white-space: normal }
  .DocSearch .DocSearch-Button-Keys { display: none }
  .vp-doc td { vertical-align: top }
  .vp-doc th, .vp-doc td { padding: 8px 10px }
  @media (min-width: 641px) {
    .vp-doc table:has(th:nth-child(7)) :is(th, td) { padding: 6px 4px; font-size: 12px }
  }
  @media (max-width: 640px) {
    .vp-doc tr, .vp-doc tbody, .vp-doc td { display: block }
    .vp-doc thead, .vp-doc td:empty { display: none }
    .vp-doc tr { border: 1px solid var(--vp-c-divider); padding: 8px 12px }
    .vp-doc tr + tr { border-top: 0 }
    .vp-doc td { border: 0; padding: 2px 0; overflow-wrap: anywhere }
    .vp-doc td:first-child { font-weight: 600 }
    .vp-doc td[data-label]::before { content: attr(data-label) ': '; color: var(--vp-c-text-2) }
  }
`

export default defineConfig({
  title: 'Postern',
  description: 'Authentication and configuration that a TypeScript host embeds',
  srcDir: '..',
  srcExclude: ['{.changeset,adapters,bench,dist,src,test,tools}/**'],
  outDir: '../.results/site',
  cacheDir: '../node_modules/.cache/vitepress',
  rewrites,
  cleanUrls: true,
  head: [
    ['link', { rel: 'icon', href: icon }],
    ['style', {}, style],
  ],
  // The demo's own addresses.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify },
    // The pages are Markdown alone: a tag or `{{` in them is a text that the reader should see.
    html: false,
    config: (markdown) => {
      // The theme's own templates need `{{`, so it is escaped in the pages and not switched off in Vue.
      for (const rule of ['text', 'code_inline', 'code_block'] as const) {
        const render = markdown.renderer.rules[rule]
        if (render === undefined) throw new Error(`markdown-it has no rule ${rule}`)
        markdown.renderer.rules[rule] = (...args) => {
          const html = render(...args).replaceAll('{{', '&#123;&#123;')
          return rule === 'code_inline' ? breakable(html) : html
        }
      }
      markdown.core.ruler.push('heads-of-cells', ({ tokens }) => labelCells(tokens))
      markdown.core.ruler.push('links-between-pages', ({ env, tokens }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet('href')
          if (token.type === 'link_open' && href !== null) {
            token.attrSet('href', siteLink(href, String(env.relativePath)))
          }
        }
      })
    },
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
