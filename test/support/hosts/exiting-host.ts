// A host that serves one request and has nothing more to do. Run as a process of its own: it has to
// end by itself. `hang`: the store falls silent. `close`: the host closes the library first.
import { randomBytes } from 'node:crypto'
import { memory } from '../../../adapters/memory/index.js'
import { createAuth } from '../../../src/create-auth.js'
import { generateSigningKey } from '../../../src/crypto/key-ring.js'
import type { ExchangeRequest } from '../../../src/http/http-message.js'

const [how] = process.argv.slice(2)
const backend = memory()
let mails = 0
let isSilent = false

const auth = await createAuth({
  backend:
    how === 'hang'
      ? {
          ...backend,
          denylist: {
            ...backend.denylist,
            find: (ids) => (isSilent ? new Promise(() => {}) : backend.denylist.find(ids)),
          },
        }
      : backend,
  keys: { current: await generateSigningKey() },
  configKeys: [{ id: 'test', key: randomBytes(32).toString('base64') }],
  surfaces: {
    operator: { baseUrl: 'http://localhost:3000' },
    client: { baseUrl: 'http://localhost:3001' },
  },
  mailer: {
    async send() {
      mails += 1
    },
  },
  authorizer: { check: () => new Promise(() => {}) },
})
await auth.migrate()
isSilent = true

async function ask(method: string, path: string, body: object, bearer = '') {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    authorization: `Bearer ${bearer}`,
    host: 'localhost:3001',
  }
  const request: ExchangeRequest = {
    method,
    path,
    header: (name) => headers[name],
    query: '',
    remoteAddress: '192.0.2.1',
    body: async () => ({ kind: 'bytes', bytes }),
  }
  return auth.both.handle(request)
}

const credentials = { email: 'ada@example.org', password: 'correct horse battery staple' }
await ask('POST', '/v1/auth/client/register', credentials)
await auth.client.users.create({ ...credentials, email: 'b@example.org', emailVerified: true })
const login = await ask('POST', '/v1/auth/client/login', {
  ...credentials,
  email: 'b@example.org',
})
const { accessToken } = JSON.parse(login?.body ?? '{}')
// Never answered: neither by the store nor, past it, by the authorizer.
void ask('GET', '/v1/auth/client/me', {}, accessToken)
if (how === 'close') await auth.close()
console.log(JSON.stringify({ status: login?.status, mails }))
