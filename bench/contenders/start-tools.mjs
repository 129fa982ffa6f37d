// What the starts need beside themselves: rows with a session in them, and bundles.
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

/** Bytes of minified code: what loads at the start, and all there is with what loads at its first use. */
async function bundleSizes({ imports }) {
  const { metafile } = await build({
    stdin: {
      contents: Object.entries(imports)
        .map(([name, parts]) => `export { ${parts.join(', ')} } from '${name}'`)
        .join('\n'),
      resolveDir: import.meta.dirname,
      loader: 'js',
    },
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    outdir: 'out',
    logLevel: 'silent',
    // The project's own settings lead `postern` to its sources.
    tsconfigRaw: {},
    loader: { '.node': 'empty' },
    external,
  })
  const { outputs } = metafile
  const atStart = new Set()
  const walk = (name) => {
    if (atStart.has(name) || outputs[name] === undefined) return
    atStart.add(name)
    for (const { path, kind } of outputs[name].imports) if (kind === 'import-statement') walk(path)
  }
  walk(Object.keys(outputs).find((name) => name.includes('stdin')))
  const bytes = (names) => names.reduce((sum, name) => sum + outputs[name].bytes, 0)
  return { atStart: bytes([...atStart]), all: bytes(Object.keys(outputs)) }
}
