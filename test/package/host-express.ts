// A strict host with Express and pg installed: the optional peers' types must meet.
import { randomBytes } from 'node:crypto'
import express from 'express'
import { Pool } from 'pg'
import { createAuth, generateSigningKey } from 'postern'
import { expressRouter } from 'postern/express'
import { postgres } from 'postern/postgres'

const pool = new Pool({ connectionString: 'postgres://localhost:1/nowhere' })
const auth = await createAuth({
  backend: postgres(pool),
  keys: { current: await generateSigningKey() },
  configKeys: [{ id: 'test', key: randomBytes(32).toString('base64') }],
  surfaces: {
    operator: { baseUrl: 'http://localhost:3000' },
    client: { baseUrl: 'http://localhost:3001' },
  },
  mailer: { send: async () => undefined },
})

const app = express()
app.use(expressRouter(auth.both))
await auth.close()
await pool.end()
console.log(JSON.stringify({ mounted: typeof app }))
