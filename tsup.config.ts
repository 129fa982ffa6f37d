import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    config: 'src/config/index.ts',
    'config-secrets': 'src/config/secrets.ts',
    openapi: 'src/openapi/index.ts',
    testing: 'src/testing/index.ts',
    express: 'adapters/express.ts',
    fastify: 'adapters/fastify.ts',
    koa: 'adapters/koa.ts',
    fetch: 'adapters/fetch.ts',
    memory: 'adapters/memory/index.ts',
    postgres: 'adapters/postgres/index.ts',
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
