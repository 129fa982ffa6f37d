import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { clearOthers, setCookie } from '../../src/http/cookies.js'
import { headerNames } from '../../src/http/incoming-request.js'
import { commonHeaders } from '../../src/http/reply.js'
import { operations } from '../../src/operations/index.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const textOf = (path: string): string => readFileSync(`${root}${path}`, 'utf8')
const sourcesOf = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: root }).toSorted()

/**
 * The names that this source takes from its surroundings: used as values, and declared and imported nowhere in it. Types
 * are left out, as they are gone at run time.
 */
function freeNames(path: string, text: string): ReadonlySet<string> {
  const bound = new Set<string>()
  const used = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (isType(node)) return
    if (ts.isIdentifier(node)) {
      if (isBinding(node)) bound.add(node.text)
      else if (!isMemberName(node)) used.add(node.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true))
  return new Set([...used].filter((name) => !bound.has(name)))
}

function isType(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isTypeParameterDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  )
}

function isBinding(node: ts.Identifier): boolean {
  const { parent } = node
  return (
    (ts.isVariableDeclaration(parent) ||
      ts.isParameter(parent) ||
      ts.isFunctionDeclaration(parent) ||
      ts.isFunctionExpression(parent) ||
      ts.isClassDeclaration(parent) ||
      ts.isBindingElement(parent) ||
      ts.isImportSpecifier(parent) ||
      ts.isImportClause(parent) ||
      ts.isNamespaceImport(parent)) &&
    parent.name === node
  )
}

/** A member of something, or the name that another module gives to what is imported from it. */
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return true
  if (ts.isBindingElement(parent)) return parent.propertyName === node
  return (
    (ts.isPropertyAccessExpression(parent) ||
      ts.isPropertyAssignment(parent) ||
      ts.isMethodDeclaration(parent) ||
      ts.isPropertyDeclaration(parent) ||
      ts.isGetAccessorDeclaration(parent)) &&
    parent.name === node
  )
}

/** What stands in the first column of the table of browsers. */
function listed(): ReadonlySet<string> {
  const [, section = ''] = textOf('docs/hosts.md').split('\n## Browsers\n')
  const [own = ''] = section.split('\n## ')
  const rows = own.split('\n').filter((line) => line.startsWith('| '))
  const needs = rows.slice(2).map((line) => line.split('|')[1] ?? '')
  return new Set(
    needs.flatMap((need) => [...need.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')),
  )
}

/** Of the language itself, in every browser and on every server. */
const language = new Set([
  ...['Array', 'Date', 'Error', 'JSON', 'Math', 'Number', 'Object', 'Promise', 'Set', 'String'],
  ...['TypeError', 'encodeURIComponent', 'globalThis', 'undefined'],
])
const scripts = sourcesOf('src/{client,react}/**/*.ts')

/** `cache-control` as `Cache-Control`, the way the page writes it. */
const written = (header: string): string =>
  header.replaceAll(/\b[a-z]/g, (one) => one.toUpperCase())

/** What the page lists besides: names that no source has, because a package or the protocol has them. */
const others = ['localhost', 'navigator.credentials', 'Set-Cookie']

function partsOfThePlatform(): readonly string[] {
  const free = scripts.flatMap((path) => [...freeNames(path, textOf(path))])
  // The one place that looks for what may be missing: the members of the type it reads globals as.
  const page = textOf('src/client/browser-environment.ts')
  const [, members = ''] = /interface PageGlobals \{([^}]+\}[^}]+\}[^}]+)\}/.exec(page) ?? []
  const names = [...members.matchAll(/^ {2}readonly (\w+)/gm)].map(([, name = '']) => name)
  const read = names.map((name) => (name === 'navigator' ? 'navigator.locks' : name))
  return [...new Set([...free.filter((name) => !language.has(name)), ...read])]
}

function partsOfCookies(): readonly string[] {
  const own = { surface: 'client', secure: true, domain: null, path: '/' } as const
  const shared = { ...own, domain: 'example.org' }
  const value = { value: 'v', maxAge: 60 }
  const lines = [own, shared].flatMap((policy) => [
    setCookie(policy, 'refresh', 'strict', value),
    ...clearOthers(policy, 'refresh', 'lax'),
  ])
  const attributes = lines.flatMap((line) =>
    line
      .split('; ')
      .slice(1)
      .map((attribute) => attribute.split('=')[0] ?? ''),
  )
  const prefixes = lines.map((line) => /^__[A-Z][a-z]+-/.exec(line)?.[0] ?? '')
  return [...new Set([...attributes, ...prefixes])]
}

/** Headers that a browser acts on by itself; scripts read the others. */
function headersForBrowsers(): readonly string[] {
  const served = sourcesOf('src/http/**/*.ts').map(textOf).join('\n')
  const granted = [...served.matchAll(/'(access-control-(?:allow|expose|max)[a-z-]*)'/g)]
  return [
    ...new Set([...Object.keys(commonHeaders), 'vary', ...granted.map(([, name = '']) => name)]),
  ].map(written)
}

/** Headers by which a browser says where a request comes from. */
function headersOfBrowsers(): readonly string[] {
  return headerNames.filter((name) => /^(origin|sec-fetch-)/.test(name)).map(written)
}

const kinds = [
  ['the parts of the platform', partsOfThePlatform(), 8],
  ['the parts of a cookie', partsOfCookies(), 8],
  ['the headers of replies', headersForBrowsers(), 11],
  ['the headers of requests', headersOfBrowsers(), 5],
] as const

describe('what browsers need is on the page as it is in the code:', () => {
  it.each(kinds)('%s', (_kind, used, least) => {
    expect(used.length).toBeGreaterThanOrEqual(least)
    const page = listed()
    expect(used.filter((name) => !page.has(name))).toEqual([])
  })

  it('nothing that is used nowhere', () => {
    const used = new Set([...kinds.flatMap(([, names]) => names), ...others])
    expect([...listed()].filter((name) => !used.has(name))).toEqual([])
  })

  it('ES2022, with nothing newer', () => {
    expect(textOf('docs/hosts.md')).toContain('JavaScript of ES2022')
    const errorsWith = (year: string): readonly string[] => {
      const program = ts.createProgram(
        scripts.map((path) => `${root}${path}`),
        {
          ...{ target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, strict: true },
          moduleResolution: ts.ModuleResolutionKind.Bundler,
          ...{ noEmit: true, skipLibCheck: true, types: ['react'] },
          lib: [`lib.${year}.d.ts`, 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
        },
      )
      return ts
        .getPreEmitDiagnostics(program)
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
    }
    expect(errorsWith('es2022')).toEqual([])
    expect(errorsWith('es2021')).not.toEqual([])
  })
})

it('the table of cookies has each that an operation reads or sets', () => {
  const [, section = ''] = textOf('docs/hosts.md').split('\n## Cookies\n')
  const [table = ''] = section.split('\n## ')
  const cookies = operations.flatMap(({ cookies: { reads = [], sets = [] } = {} }) => [
    ...reads,
    ...sets,
  ])
  expect(new Set(cookies).size).toBeGreaterThan(5)
  const missing = cookies.filter(
    (name) => !new RegExp(`\\| .*\`__Host-(cl|op)_${name}(_…)?\``).test(table),
  )
  expect([...new Set(missing)]).toEqual([])
})

describe('the free names of a source', () => {
  it('are the values that it neither declares nor imports', () => {
    const source = `
      import { one as two, three } from './x.js'
      import type { Four } from './y.js'
      interface Five { readonly six: Request }
      export function seven<T extends URL>(eight: T, { nine, ten: eleven }: Five): Headers {
        const twelve = async () => fetch(eight.thirteen, { fourteen: nine, eleven })
        return new Response(two + three).headers as Headers
      }`
    expect([...freeNames('x.ts', source)].sort()).toEqual(['Response', 'fetch'])
  })
})
