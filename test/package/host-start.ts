// A host that starts with the defaults, and then uses what is loaded at its first use. Prints what it saw.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createAuth, generateSigningKey } from 'postern'
import { fetchHandler } from 'postern/fetch'
import { memory } from 'postern/memory'

declare global {
  var loadedModules: undefined | (() => readonly string[])
  var localised: undefined | (() => number)
  var spanNames: undefined | readonly string[]
}

const loaded = () => globalThis.loadedModules?.() ?? []
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

const logged: unknown[] = []
const silent = () => undefined
const auth = await createAuth({
  backend: memory(),
  keys: { current: privateKey },
  configKeys: [{ id: 'test', key: randomBytes(32).toString('base64') }],
  surfaces: {
    operator: { baseUrl: 'http://localhost:3000' },
    client: { baseUrl: 'http://localhost:3001' },
  },
  settings: { webauthnMode: 'passwordless' },
  mailer: { send: async () => undefined },
  logger: {
    debug: silent,
    info: silent,
    warn: silent,
    error: (_text: string, fields?: unknown) => logged.push(fields),
  },
})
await auth.migrate()

const handle = fetchHandler(auth.both)
async function statusOf(path: string, method = 'GET'): Promise<number | undefined> {
  const reply = await handle(new Request(`http://localhost:3000/v1/auth${path}`, { method }))
  return reply?.status
}

const session = await statusOf('/session')
const atStart = loaded()
const writtenAtStart = globalThis.localised?.() ?? null
const options = '/operator/webauthn/login/options'
// Side by side, and once more.
const passkeys = await Promise.all([statusOf(options, 'POST'), statusOf(options, 'POST')])
passkeys.push(await statusOf(options, 'POST'))
const key = await generateSigningKey()
await auth.close()
const afterwards = loaded().filter((url) => !atStart.includes(url))
const made = key.startsWith('-----BEGIN PRIVATE KEY-----')
const spans = globalThis.spanNames ?? []
console.log(
  JSON.stringify({
    session,
    passkeys,
    made,
    spans,
    logged,
    localised: writtenAtStart,
    atStart,
    afterwards,
  }),
)
