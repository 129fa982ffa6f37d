// A host that a bundler made one file of. Hashes a password, and then asks for the hasher that is not installed.
import { randomBytes } from 'node:crypto'
import { createAuth, generateSigningKey, OptionsError } from 'postern'
import { memory } from 'postern/memory'

const current = await generateSigningKey()

function authWith(implementation: 'argon2' | '@node-rs/argon2') {
  return createAuth({
    backend: memory(),
    keys: { current },
    configKeys: [{ id: 'test', key: randomBytes(32).toString('base64') }],
    surfaces: {
      operator: { baseUrl: 'http://localhost:3000' },
      client: { baseUrl: 'http://localhost:3001' },
    },
    mailer: { send: async () => undefined },
    hash: { implementation },
  })
}

const auth = await authWith('argon2')
await auth.migrate()
const person = { email: 'ada@example.com', password: randomBytes(12).toString('hex') }
const { hasPassword } = await auth.client.users.create(person, { actorId: 'host' })
await auth.close()

const refusal = await authWith('@node-rs/argon2').catch((error: unknown) => error)
const missing = refusal instanceof OptionsError ? refusal.message : null
console.log(JSON.stringify({ hasPassword, missing }))
