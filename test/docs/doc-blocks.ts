import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'

const root = new URL('../../', import.meta.url)

/** A block of TypeScript on a page. */
export interface DocBlock {
  /** `docs/hosts.md:57`, the line where it begins. */
  readonly place: string
  readonly language: 'ts' | 'tsx'
  readonly code: string
}

function blocksOf(page: string): readonly DocBlock[] {
  const text = readFileSync(new URL(page, root), 'utf8')
  return [...text.matchAll(/^( *)```(tsx?)\n(.*?)^\1```$/gms)].map((found) => {
    const [, indent = '', language, code = ''] = found
    return {
      place: `${page}:${text.slice(0, found.index).split('\n').length + 1}`,
      language: language === 'tsx' ? 'tsx' : 'ts',
      code: indent === '' ? code : code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }
  })
}

/** Every block of TypeScript that readers get. */
export function docBlocks(): readonly DocBlock[] {
  const docs = readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md'))
  return ['README.md', ...docs.map((name) => `docs/${name}`)].flatMap(blocksOf)
}

/** The file of the repository that a block says it is a part of; null for a block of its own. */
export function sourceOf({ code }: DocBlock): string | null {
  return /^\/\/ (examples\/\S+)\n/.exec(code)?.[1] ?? null
}

const isWhole = (code: string, language: string): boolean =>
  ts.transpileModule(code, {
    reportDiagnostics: true,
    fileName: `block.${language}`,
    compilerOptions: { module: ts.ModuleKind.ESNext, jsx: ts.JsxEmit.ReactJSX },
  }).diagnostics?.length === 0

/** Imports stay at the top; the rest is the body of a function, for a block that returns. */
function asBody(code: string): string {
  const imports = [...code.matchAll(/^import [^;]*? from '[^']+'$/gm)].map(([text]) => text)
  const rest = imports.reduce((left, text) => left.replace(text, ''), code)
  return `${imports.join('\n')}\nasync function block() {\n${rest}\n}`
}

/**
 * A block as a module that a compiler can read: as it is, as the body of a function where it returns, or
 * as some of the options where it is a part of an object. Null where it is none of them.
 */
export function moduleOf({ code, language }: DocBlock): string | null {
  const forms = [
    code,
    asBody(code),
    `export const part: Partial<import('postern').AuthOptions> = {\n${code}\n}`,
  ]
  // A lone `surfaces: {` is a label for the parser; whoever reads it sees an option.
  const isPart = /^\w+: [{'\d[]/m.exec(code)?.index === 0 || /^\w+: \w+, \/\//.test(code)
  // Whether a `return` stands within a function is not told by the parser alone.
  const returns = /^ {0,2}(?:if \(.*\) )?return\b/m.test(code) && !/^export /m.test(code)
  const first = isPart ? 2 : returns ? 1 : 0
  const form = forms.slice(first).find((text) => isWhole(text, language))
  return form === undefined ? null : `${form}\nexport {}\n`
}
