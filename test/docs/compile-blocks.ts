import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** What the blocks of the pages take for granted, with its type. Anything else that they name may be of any. */
const known: Readonly<Record<string, string>> = {
  auth: `import('postern').Auth`,
  options: `import('postern').AuthOptions`,
  pool: `import('pg').Pool`,
  email: 'string',
  password: 'string',
  userId: 'string',
}

/** `Cannot find name`, in its several forms. */
const unknownName = new Set([2304, 2503, 2552, 2582, 2593, 18004])
const noModule = 2307

const options: ts.CompilerOptions = {
  ...ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
  ).options,
  // As strict as the project that the quickstarts begin, not as this repository.
  exactOptionalPropertyTypes: false,
  noUncheckedIndexedAccess: false,
  noPropertyAccessFromIndexSignature: false,
  noImplicitReturns: false,
  // The parameters of a call to something unknown have no type.
  noImplicitAny: false,
  useUnknownInCatchVariables: false,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.d.ts'],
  jsx: ts.JsxEmit.ReactJSX,
}

interface Complaint {
  readonly code: number
  readonly text: string
}

function complaintsOf(
  files: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly Complaint[]> {
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile } = host
  host.fileExists = (path) => files.has(path) || fileExists(path)
  host.readFile = (path) => files.get(path) ?? readFile(path)
  const program = ts.createProgram([...files.keys()], options, host)
  return new Map(
    [...files.keys()].map((path) => [
      path,
      ts
        .getPreEmitDiagnostics(program, program.getSourceFile(path))
        .map(({ code, messageText }) => ({
          code,
          text: ts.flattenDiagnosticMessageText(messageText, '\n'),
        })),
    ]),
  )
}

const quoted = (text: string): string => /'([^']+)'/.exec(text)?.[1] ?? ''

/** The names that a block uses and does not make, declared before it; types and values may have one name. */
function withNames(code: string, complaints: readonly Complaint[]): string {
  const missing = complaints
    .filter((one) => unknownName.has(one.code))
    .map(({ text }) => quoted(text))
  const declared = [...new Set(missing)].map(
    (name) => `declare const ${name}: ${known[name] ?? 'any'}; type ${name} = any`,
  )
  return [code, ...declared].join('\n')
}

/**
 * What the compiler has against blocks, by their names. Names that a block takes from elsewhere are declared for it,
 * and modules that are neither the package's nor installed are let be.
 */
export function compileBlocks(blocks: ReadonlyMap<string, string>): readonly string[] {
  const files = new Map([...blocks].map(([name, code]) => [join(root, name), code]))
  const first = complaintsOf(files)
  const declared = new Map(
    [...files].map(([path, code]) => [path, withNames(code, first.get(path) ?? [])]),
  )
  const isOurs = (text: string) => /^'postern/.test(`'${quoted(text)}`)
  return [...complaintsOf(declared)].flatMap(([path, complaints]) =>
    complaints
      .filter(({ code, text }) => code !== noModule || isOurs(text))
      .map(({ code, text }) => `${path.slice(root.length)}: ${code} ${text}`),
  )
}
