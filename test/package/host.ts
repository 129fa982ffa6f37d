// The smallest strict host: no framework, no database, nothing installed but the package itself.
import { randomBytes } from 'node:crypto'
import { AuthError, createAuth, generateSigningKey, OptionsError } from 'postern'
import { fetchHandler } from 'postern/fetch'
import { memory } from 'postern/memory'

const surface = (port: number) => ({ baseUrl: `http://localhost:${port}` })

const auth = await createAuth({
  backend: memory(),
  keys: { current: await generateSigningKey() },
  configKeys: [{ id: 'test', key: randomBytes(32).toString('base64') }],
  surfaces: { operator: surface(3000), client: surface(3001) },
  mailer: { send: async () => undefined },
})

const handle = fetchHandler(auth.both)
const reply = await handle(new Request('http://localhost:3000/v1/auth/session'))
await auth.close()

const isError = new AuthError('unauthorized') instanceof Error
console.log(JSON.stringify({ status: reply?.status, isError, options: OptionsError.name }))
