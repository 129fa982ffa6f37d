import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ApiReport, apiReport } from './api-report.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const tsc = join(root, 'node_modules/@typescript/native/bin/tsc')

type Exports = Readonly<Record<string, string | { readonly types: string }>>

/** The subpaths of the package, as a host imports them, with the file of their declarations. */
function declaredEntries(): ReadonlyMap<string, string> {
  const { exports }: { readonly exports: Exports } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const entries = Object.entries(exports).flatMap(([name, target]): [string, string][] =>
    typeof target === 'string' ? [] : [[name.replace('.', 'postern'), target.types]],
  )
  return new Map(entries)
}

/** Builds the declarations into a temporary folder, and removes it at the end. Leaves `dist` alone. */
export function publicTypes(): ApiReport {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'postern-types-')))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const into = ['--outDir', join(folder, 'dist/types')]
    execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.dts.json'), ...into])
    return apiReport(folder, declaredEntries())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The pages of `test/package/api` by their names: one for each subpath, and one of what they name besides. */
export function apiPages({ pages, unexported }: ApiReport): ReadonlyMap<string, string> {
  const named = [...pages].map(([subpath, text]): [string, string] => {
    return [`${subpath.replaceAll('/', '-')}.txt`, text]
  })
  const besides = unexported.map(({ namedBy, declaration }) => {
    return `named by ${namedBy.join(', ')}\n${declaration}\n`
  })
  return new Map([...named, ['unexported.txt', besides.join('\n')]])
}
