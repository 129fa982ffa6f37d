import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const { exports: entries }: { exports: Readonly<Record<string, unknown>> } = JSON.parse(
  read('package.json'),
)
const specifiers = Object.keys(entries)
  .filter((name) => name !== './package.json')
  .map((name) => name.replace('.', 'postern'))

const { options } = ts.parseJsonConfigFileContent(
  { ...JSON.parse(read('tsconfig.json')), files: ['src/index.ts'], include: [] },
  ts.sys,
  root,
)

/** An example may use these two without saying where they come from. */
const ambient = `
  declare const auth: import('postern').Auth
  declare const options: import('postern').AuthOptions
`

interface Example {
  readonly name: string
  readonly code: string
}

interface PublicExport {
  readonly name: string
  readonly documentation: string
  /** The `@example` blocks. */
  readonly examples: readonly Example[]
}

/** What an entry point exports. */
function exportsOf(specifier: string, program: ts.Program): readonly PublicExport[] {
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(join(root, options.paths?.[specifier]?.[0] ?? ''))
  const entry = file && checker.getSymbolAtLocation(file)
  return (entry ? checker.getExportsOfModule(entry) : []).map((exported) => {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0
    const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported
    const tags = symbol.getJsDocTags(checker).filter(({ name }) => name === 'example')
    const { name } = exported
    return {
      name,
      documentation: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
      examples: tags.map(({ text }) => ({ name, code: ts.displayPartsToString(text) })),
    }
  })
}

/** The blocks of TypeScript on a page. */
const blocksOf = (page: string): readonly string[] =>
  [...read(page).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)

const parsed = new Map<string, ts.SourceFile | undefined>()

/** A program of files, some of which are only in memory. A file on disk is parsed once for all. */
function programOf(paths: readonly string[], inMemory: ReadonlyMap<string, string>): ts.Program {
  const host = ts.createCompilerHost(options, true)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => inMemory.has(path) || fileExists(path)
  host.readFile = (path) => inMemory.get(path) ?? readFile(path)
  host.getSourceFile = (path, target) => {
    if (!parsed.has(path)) parsed.set(path, getSourceFile(path, target))
    return parsed.get(path)
  }
  return ts.createProgram(paths, options, host)
}

/** What the compiler has against these modules, which stand beside the package's sources. */
function complaints(examples: readonly Example[]): readonly string[] {
  const files = new Map(
    examples.map(({ code }, index) => [join(root, `example-${index}.ts`), `${code}\nexport {}\n`]),
  )
  files.set(join(root, 'examples.d.ts'), ambient)
  const paths = [...files.keys()]
  const program = programOf(paths, files)
  return paths.flatMap((path, index) => {
    const found = ts.getPreEmitDiagnostics(program, program.getSourceFile(path))
    return found.map(({ messageText }) => {
      return `${examples[index]?.name}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    })
  })
}

describe('the public exports', () => {
  const exported = new Map<string, readonly PublicExport[]>()
  const of = (specifier: string) => exported.get(specifier) ?? []

  beforeAll(() => {
    const sources = specifiers.map((name) => join(root, options.paths?.[name]?.[0] ?? ''))
    const program = programOf(sources, new Map())
    for (const specifier of specifiers) exported.set(specifier, exportsOf(specifier, program))
  })

  it.each(specifiers)('of %s have a docstring each', (specifier) => {
    const bare = of(specifier).filter(({ documentation }) => documentation === '')
    expect(bare.map(({ name }) => name)).toEqual([])
  })

  it.each(specifiers)('of %s have an example that imports it', (specifier) => {
    const found = of(specifier).flatMap(({ examples }) => examples)
    expect(found.filter(({ code }) => code.includes(`from '${specifier}'`))).not.toEqual([])
  })

  it('have examples that compile, as do the first of the README, of getting-started.md and of mails.md', () => {
    const pages = ['README.md', 'docs/getting-started.md', 'docs/mails.md']
    const first = pages.map((name) => ({ name, code: blocksOf(name)[0] ?? 'nothing' }))
    const examples = [...exported.values()].flat().flatMap((one) => one.examples)
    expect(complaints([...first, ...examples])).toEqual([])
  })
})
