// A script that awaits replies of the library and has nothing else to do: no server, and no timer of its own.
import { randomBytes } from 'node:crypto'
import { memory } from '../../../adapters/memory/index.js'
import { createAuth } from '../../../src/create-auth.js'
import { generateSigningKey } from '../../../src/crypto/key-ring.js'
import { loginStatus } from './fetch-host.js'

const email = 'ada@example.org'
const auth = await createAuth({
  backend: memory(),
  keys: { current: await generateSigningKey() },
  configKeys: [{ id: 'test', key: randomBytes(32).toString('base64') }],
  surfaces: {
    operator: { baseUrl: 'https://admin.example.com' },
    client: { baseUrl: 'https://app.example.com' },
  },
  mailer: { send: async () => {} },
  // Answers at once: its refusal waits until it takes as long as one by argon2id.
  legacyHashes: { bcrypt: async () => false },
})
await auth.migrate()
await auth.client.users.import({
  users: [
    {
      email,
      emailVerified: true,
      passwordHash: '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
    },
  ],
})

const statuses: number[] = []
for (const address of ['nobody@example.org', email]) {
  statuses.push(await loginStatus(auth, { email: address, password: 'a wrong password' }))
}
console.log(JSON.stringify(statuses))
