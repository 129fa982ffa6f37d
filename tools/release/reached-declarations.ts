import { posix } from 'node:path'
import ts from 'typescript'

/**
 * The declaration files that a host's compiler reads: the entries, and all that they import. Throws where one of them
 * imports a file that is not there.
 */
export function reachedDeclarations(
  entries: readonly string[],
  textOf: (path: string) => string,
): ReadonlySet<string> {
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    const { importedFiles, referencedFiles } = ts.preProcessFile(textOf(path), true, true)
    const names = [...importedFiles, ...referencedFiles].map(({ fileName }) => fileName)
    for (const name of names.filter((name) => name.startsWith('.'))) {
      visit(posix.join(posix.dirname(path), name).replace(/(\.d\.ts|\.js|\.ts)$/, '.d.ts'))
    }
  }
  for (const entry of entries) visit(posix.normalize(entry))
  return reached
}
