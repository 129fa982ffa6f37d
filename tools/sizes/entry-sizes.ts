import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { loadedFiles } from '../../test/support/package/loaded-files.js'

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
