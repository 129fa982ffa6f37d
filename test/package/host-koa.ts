// A strict host with Koa and its types: they must meet ours.
import { randomBytes } from 'node:crypto'
import Koa from 'koa'
import { createAuth, generateSigningKey } from 'postern'
import { koaRouter } from 'postern/koa'
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

const app = new Koa().use(koaRouter(auth.both)).use(koaRouter(auth.client, { prefix: '/shop' }))
// @ts-expect-error A declaration that did not resolve would let anything through.
const wrong = (): unknown => koaRouter(1)
await auth.close()
console.log(JSON.stringify({ mounted: app.middleware.length, wrong: typeof wrong }))
