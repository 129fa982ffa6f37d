import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Versions } from './project-files.js'

/** The versions of packages that the package itself does not name: what its examples run on. */
const others: Versions = {
  '@hono/node-server': '^2.0.0',
  hono: '^4.0.0',
  '@types/express': '^5.0.0',
  '@types/koa': '^3.0.0',
  '@types/node': '^22.18.0',
  '@types/pg': '^8.0.0',
  typescript: '^5.8.0 || ^6.0.0',
}

/** The version of this package, and those that a host may install beside it. */
export async function ownManifest(): Promise<{
  readonly version: string
  readonly versions: Versions
}> {
  const path = createRequire(import.meta.url).resolve('postern/package.json')
  const manifest: { readonly version: string; readonly peerDependencies: Versions } = JSON.parse(
    await readFile(path, 'utf8'),
  )
  return { version: manifest.version, versions: { ...others, ...manifest.peerDependencies } }
}
