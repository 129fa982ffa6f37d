import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { countedBlocks } from '../../tools/api/counted-blocks.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const counted = countedBlocks()

/** What a host has beside the blocks. */
const ambient = {
  'host.d.ts': `
    declare const options: import('postern').AuthOptions
    declare module '@/auth' { export const auth: import('postern').Auth }
    declare module 'next/headers' { export function headers(): Promise<Headers> }
    declare module 'next/navigation' { export function redirect(path: string): never }
    declare module 'bcryptjs' {
      const bcrypt: { compare(password: string, hash: string): Promise<boolean> }
      export default bcrypt
    }`,
  'old-users.ts': `export declare const rows: readonly {
    email: string; name: string; password: string; verified: boolean; created: Date }[]`,
}

/** What the compiler has against these files, which stand beside the package's sources. */
function complaints(files: ReadonlyMap<string, string>): readonly string[] {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
  )
  const dom = ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.d.ts']
  const form = { ...options, lib: dom, jsx: ts.JsxEmit.ReactJSX }
  const host = ts.createCompilerHost(form)
  const { fileExists, readFile } = host
  host.fileExists = (path) => files.has(path) || fileExists(path)
  host.readFile = (path) => files.get(path) ?? readFile(path)
  const program = ts.createProgram([...files.keys()], form, host)
  return [...files.keys()].flatMap((path) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`),
  )
}

describe('what a reader has to write', () => {
  it.each(counted)('$name: at most $most lines', ({ lines, most }) => {
    expect(lines).toBeLessThanOrEqual(most)
    expect(lines).toBeGreaterThan(3)
  })

  it('compiles', () => {
    const files = new Map(Object.entries(ambient).map(([name, text]) => [join(root, name), text]))
    for (const [at, { code, language }] of counted.entries()) {
      files.set(join(root, `block-${at}.${language}`), `${code}\nexport {}\n`)
    }
    expect(complaints(files)).toEqual([])
  })
})
