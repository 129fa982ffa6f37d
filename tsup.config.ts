import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { dictionary } from '@zxcvbn-ts/language-common'
import { defineConfig, type Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/**
 * Two packages in parts. Their index files name everything, and what one entry needs of that would stand
 * in the chunk that all share: the JSON Schema of zod belongs to `postern/openapi` alone, and of the
 * word lists only that of passwords is used.
 */
const parts: Plugin = {
  name: 'parts',
  setup(build) {
    const zodIndex = /[\\/]zod[\\/]v4[\\/](core[\\/]index|mini[\\/]external)\.js$/
    build.onLoad({ filter: zodIndex }, async ({ path }) => {
      const lines = (await readFile(path, 'utf8')).split('\n')
      const contents = lines.filter((line) => !/from ".*json-schema.*"/.test(line)).join('\n')
      return { contents, loader: 'js' }
    })
    build.onResolve({ filter: /^zod\/v4\/core$/ }, async ({ resolveDir }) => {
      const zod = await build.resolve('zod/package.json', { resolveDir, kind: 'require-call' })
      return { path: join(zod.path, '../v4/core/json-schema-processors.js'), sideEffects: false }
    })
    const passwordList = /[\\/]language-common[\\/]dist[\\/]passwords\.json\.mjs$/
    build.onLoad({ filter: passwordList }, () => ({
      contents: packedList(dictionary['passwords-common']),
      loader: 'js',
    }))
    const unusedList = /[\\/]language-common[\\/]dist[\\/](diceware|adjacencyGraphs)\.json\.mjs$/
    build.onLoad({ filter: unusedList }, () => ({ contents: 'export default []', loader: 'js' }))
  },
}

/** A module of the same list, sorted and compressed: 150 KiB in place of 370, unpacked when it is loaded. */
function packedList(list: readonly string[]): string {
  const packed = brotliCompressSync([...list].sort().join('\n')).toString('base64')
  return [
    "import { brotliDecompressSync } from 'node:zlib'",
    `const packed = Buffer.from('${packed}', 'base64')`,
    "export default brotliDecompressSync(packed).toString('utf8').split('\\n')",
  ].join('\n')
}

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    config: 'src/config/index.ts',
    'config-secrets': 'src/config/secrets.ts',
    mails: 'src/mails/index.ts',
    openapi: 'src/openapi/index.ts',
    cli: 'src/cli/main.ts',
    testing: 'src/testing/index.ts',
    // For browsers and apps: they import nothing, and their sources are written for es2022.
    client: 'src/client/index.ts',
    'client-passkeys': 'src/client/passkeys.ts',
    'client-mobile': 'src/client/mobile.ts',
    react: 'src/react/index.ts',
    express: 'adapters/express.ts',
    fastify: 'adapters/fastify.ts',
    koa: 'adapters/koa.ts',
    fetch: 'adapters/fetch.ts',
    memory: 'adapters/memory/index.ts',
    postgres: 'adapters/postgres/index.ts',
    stores: 'adapters/stores/index.ts',
    sql: 'adapters/sql/index.ts',
    sqlite: 'adapters/sqlite/index.ts',
    mariadb: 'adapters/mariadb/index.ts',
    mongo: 'adapters/mongo/index.ts',
    redis: 'adapters/redis/index.ts',
  },
  format: ['esm'],
  target: 'node20',
  platform: 'node',
  // Shared chunks: an error thrown by one entry must be an instance of the class another exports.
  splitting: true,
  sourcemap: true,
  removeNodeProtocol: false,
  // Only bundled does a host load no more of them than the library uses: 30 of the 440 KiB of zod, one
  // file in place of 60 of the OpenTelemetry API, whose state is the process's and not a module's, and
  // one of three word lists. THIRD-PARTY-NOTICES.md has their licences.
  noExternal: [/^zod\//, '@opentelemetry/api', /^@zxcvbn-ts\//],
  esbuildPlugins: [parts],
  esbuildOptions(options) {
    // A module rather than CommonJS where a package has both, so that what is not used is left out.
    options.mainFields = ['module', 'main']
  },
  // `npm run build` cleans. The demo does not: the declarations of the last build stay.
  clean: false,
  // Declarations come from tsc: tsup's own declaration build does not report type errors.
  dts: false,
})
