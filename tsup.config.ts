import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    config: 'src/config/index.ts',
    'config-secrets': 'src/config/secrets.ts',
    mails: 'src/mails/index.ts',
    verifiers: 'src/crypto/verifiers.ts',
    openapi: 'src/openapi/index.ts',
    providers: 'src/identity-providers/index.ts',
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
  // `npm run build` cleans. The demo does not: the declarations of the last build stay.
  clean: false,
  // Declarations come from tsc: tsup's own declaration build does not report type errors.
  dts: false,
})
