// What the starts need beside themselves: rows with a session in them, and bundles.
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { contender } from './contender.mjs'
import { poolOf } from './shared/database.mjs'

contender({
  start() {},
  async betterAuthSession({ postgres }) {
    const { betterAuthOn, signInTo } = await import('./shared/better-auth.mjs')
    const pool = poolOf(postgres)
    const { cookie } = await signInTo(await betterAuthOn(pool), 'start@example.test')
    await pool.end()
    return cookie
  },
  bundleSizes,
})

/** Optional, native, or the host's own: a bundler leaves them out of both contenders alike. */
const external = [
  '@node-rs/argon2',
  '@opentelemetry/api',
  '@prisma/client',
  'better-sqlite3',
  'bun:*',
  'cloudflare:*',
  'drizzle-orm',
  'express',
  'mongodb',
  'mysql2',
  'next',
  'pg-native',
  'react',
]

/** Bytes of one minified file with all there is, before and after its compression. */
async function bundleSizes({ imports }) {
  const { outputFiles } = await build({
    stdin: {
      contents: Object.entries(imports)
        .map(([name, parts]) => `export { ${parts.join(', ')} } from '${name}'`)
        .join('\n'),
      resolveDir: import.meta.dirname,
      loader: 'js',
    },
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    // The project's own settings lead `postern` to its sources.
    tsconfigRaw: {},
    loader: { '.node': 'empty' },
    external,
  })
  const [{ contents }] = outputFiles
  return { minified: contents.byteLength, compressed: gzipSync(contents).byteLength }
}
