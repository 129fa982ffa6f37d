// A strict host with Fastify, over HTTP/1 and HTTP/2: the optional peer's types must meet ours.
import { randomBytes } from 'node:crypto'
import fastify from 'fastify'
import { createAuth, generateSigningKey } from 'postern'
import { fastifyRouter } from 'postern/fastify'
import { memory } from 'postern/memory'

const auth = await createAuth({
  backend: memory(),
  keys: { current: await generateSigningKey() },
  configKeys: [{ id: 'test', key: randomBytes(32).toString('base64') }],
  surfaces: {
    operator: { baseUrl: 'http://localhost:3000' },
    client: { baseUrl: 'http://localhost:3001' },
  },
  mailer: { send: async () => undefined },
})

const app = fastify()
app.register(fastifyRouter(auth.both), { prefix: '/identity' })
const second = fastify({ http2: true })
second.register(fastifyRouter(auth.client))
const { statusCode } = await app.inject({
  url: '/identity/v1/auth/session',
  authority: 'localhost:3000',
})
await auth.close()
console.log(JSON.stringify({ statusCode }))
