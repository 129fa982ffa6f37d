import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Manifest {
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/**
 * Bytes of the files that installing a package alone brings: its own, those of what it depends on, and
 * of the peers that it cannot do without. Of a package with a list of files, such as one that is being
 * developed here, what it publishes counts.
 */
export function installedSize(folder: string): number {
  const seen = new Set<string>()
  const visit = (at: string): number => {
    if (seen.has(at)) return 0
    seen.add(at)
    const manifest: Manifest = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'))
    const needed = neededBy(manifest)
      .map((name) => find(name, at))
      .filter((found) => found !== null)
    return ownSize(at, manifest, at === folder) + needed.reduce((sum, next) => sum + visit(next), 0)
  }
  return visit(folder)
}

function neededBy(manifest: Manifest): readonly string[] {
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
    (name) => manifest.peerDependenciesMeta?.[name]?.optional !== true,
  )
  const { dependencies, optionalDependencies } = manifest
  return [...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {}), ...peers]
}

/** As Node looks for it; null for an optional one that is for other machines. */
function find(name: string, from: string): string | null {
  for (let at = from; ; at = dirname(at)) {
    const candidate = join(at, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (dirname(at) === at) return null
  }
}

function ownSize(folder: string, { files }: Manifest, isRoot: boolean): number {
  if (!isRoot || files === undefined) return sizeOf(folder)
  const isLeftOut = (name: string) => name.startsWith('!')
  return files
    .map((name) =>
      isLeftOut(name) ? -sizeOf(join(folder, name.slice(1))) : sizeOf(join(folder, name)),
    )
    .reduce((sum, size) => sum + size, 0)
}

function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path)
    .filter((name) => name !== 'node_modules')
    .reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
