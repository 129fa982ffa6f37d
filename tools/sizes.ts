import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { textTable } from '../bench/harness/text-table.js'
import { buildPackage } from '../test/support/package/build-package.js'
import { loadedFiles } from '../test/support/package/loaded-files.js'
import { packageEntries } from './package-entries.js'

/** All in bytes. */
export interface EntrySize {
  /** The built file that the subpath names. */
  readonly own: number
  /** With the chunks that it loads, now or when they are used. */
  readonly withChunks: number
  /** As a host's bundler makes one file of it. Other packages are left out: the host may have them already. */
  readonly minified: number
  readonly gzip: number
  readonly brotli: number
}

/** What a host's bundler makes of a module that stands beside the built package, in one minified file. */
export async function bundled(source: string, folder: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: folder },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    packages: 'external',
    // It would say at each chunk that it may leave it out.
    logLevel: 'error',
  })
  return outputFiles.map(({ text }) => text).join('\n')
}

export async function entrySize(file: string): Promise<EntrySize> {
  const minified = await bundled(`export * from ${JSON.stringify(file)}`, dirname(file))
  const chunks = [...loadedFiles(file)].map((path) => readFileSync(path).byteLength)
  return {
    own: statSync(file).size,
    withChunks: chunks.reduce((sum, bytes) => sum + bytes, 0),
    minified: Buffer.byteLength(minified),
    gzip: gzipSync(minified, { level: 9 }).byteLength,
    brotli: brotliCompressSync(minified).byteLength,
  }
}

/** The subpaths with the names of their files in `dist`: `postern/config` → `config`. */
export function builtEntries(): ReadonlyMap<string, string> {
  const nameOf = (path: string) => path.replace(/^\.\/dist\/|\.js$/g, '')
  return new Map([...packageEntries()].map(([subpath, own]) => [subpath, nameOf(own.default)]))
}

const kib = (bytes: number): string => (bytes / 1024).toFixed(1)

/** What each subpath weighs, in KiB. The bounds are in `test/package/size-bounds.ts`. */
export async function sizeTable(): Promise<string> {
  const built = await buildPackage({})
  try {
    const rows: string[][] = []
    for (const [subpath, name] of builtEntries()) {
      const { own, withChunks, minified, gzip, brotli } = await entrySize(built.file(name))
      rows.push([subpath, ...[own, withChunks, minified, gzip, brotli].map(kib)])
    }
    return textTable(['KiB', 'own', 'chunks', 'minified', 'gzip', 'brotli'], rows)
  } finally {
    built.remove()
  }
}
