// An Express host that embeds Postern: both surfaces on one port, on an embedded Postgres.
// Start it with `npm run quickstart`; `PORT` chooses the port, Ctrl-C stops it.
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import express from 'express'
import { createAuth } from 'postern'
import { expressRouter } from 'postern/express'
import { ensureFirstOperator } from './first-start.ts'
import { quickstartOptions } from './quickstart-options.ts'

const port = Number(process.env['PORT'] ?? 3000)
const baseUrl = `http://localhost:${port}`
const dataFolder = fileURLToPath(new URL('.data/', import.meta.url))
await mkdir(dataFolder, { recursive: true })

const database = await PGlite.create(`${dataFolder}database`)
const auth = await createAuth(await quickstartOptions({ database, dataFolder, baseUrl }))
await auth.migrate()
const operator = await ensureFirstOperator(auth, dataFolder)

const app = express()
app.use(expressRouter(auth.both))
app.get('/', (_request, response) => {
  response
    .type('text')
    .send('This host embeds Postern. Its routes are below /v1/auth and /v1/admin.\n')
})

const server = app.listen(port, (error) => {
  if (error) {
    console.error(`Cannot listen on port ${port}: ${error.message}. Set PORT to a free one.`)
    process.exit(1)
  }
  console.log(`Postern quickstart on ${baseUrl}

  operator surface  ${baseUrl}/v1/auth/operator
  client surface    ${baseUrl}/v1/auth/client
  public keys       ${baseUrl}/v1/auth/client/jwks

  first operator    ${operator.email}
  password          ${operator.password}

Mails are printed here. Stop with Ctrl-C.`)
})

let stopping: Promise<void> | undefined

async function stop(): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await auth.close()
  await database.close()
  console.log('Stopped.')
}

// Ctrl-C reaches us twice when npm passes it on as well; the second one must not cut us short.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stopping ??= stop()
    stopping.then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
}
