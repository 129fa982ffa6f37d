// An app by postern/client/mobile, and the host that it talks to.
import { randomBytes } from 'node:crypto'
import { createAuth, generateSigningKey } from 'postern'
import { createMobileClient, isPosternError, type TokenStorage } from 'postern/client/mobile'
import { fetchHandler } from 'postern/fetch'
import { memory } from 'postern/memory'

const baseUrl = 'http://localhost:3000'
const auth = await createAuth({
  backend: memory(),
  keys: { current: await generateSigningKey() },
  configKeys: [{ id: 'test', key: randomBytes(32).toString('base64') }],
  surfaces: { operator: { baseUrl }, client: { baseUrl } },
  mailer: { send: async () => undefined },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
})
await auth.migrate()
const [email, password] = ['ada@example.org', 'correct horse battery staple']
await auth.client.users.create({ email, password, emailVerified: true })

const handle = fetchHandler(auth.client)
const awake = setInterval(() => undefined, 60_000)
let kept: string | null = null
const storage: TokenStorage = {
  read: async () => kept,
  write: async (text) => {
    kept = text
  },
}
const environment = {
  fetch: async (request: Request) => (await handle(request)) ?? new Response(null, { status: 404 }),
}
const open = () =>
  createMobileClient({
    surface: 'client',
    baseUrl,
    allowInsecureLoopback: true,
    storage,
    environment,
  })

const client = open()
const before = (await client.restore()).status
const login = await client.call('POST /mobile/login', { email, password })
if (login.status === 'mfaRequired') {
  await client.call('POST /login/mfa', { mfaToken: login.mfaToken, method: 'totp', code: '' })
}
const again = open()
const state = await again.restore()
let refusal = ''
try {
  await again.call('POST /mobile/login', { email, password: 'another passphrase' })
} catch (error) {
  if (isPosternError(error) && error.kind === 'problem') refusal = error.code
}
await again.call('POST /logout')

clearInterval(awake)
await auth.close()
const user = state.status === 'signedIn' ? state.user.email : null
console.log(JSON.stringify({ before, login: login.status, user, refusal, after: again.get() }))
