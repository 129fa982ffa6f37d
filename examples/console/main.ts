// A host with pages for users and operators, on an embedded Postgres.
// Start it with `npm run demo`; `PORT` chooses the port, Ctrl-C stops it.
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { postgres } from 'postern/postgres'
import { configKey, ensureFirstOperator, signingKey } from '../quickstart/first-start.ts'
import { consoleHost } from './host/console-host.ts'

const port = Number(process.env['PORT'] ?? 3000)
const dataFolder = fileURLToPath(new URL('.data/', import.meta.url))
await mkdir(dataFolder, { recursive: true })

console.log('Loading the embedded database, which takes a few seconds …')
const database = await PGlite.create(`${dataFolder}database`)
console.log('Migrating it, and bundling the pages …')
const host = await consoleHost({
  port,
  backend: postgres(database),
  keys: { current: await signingKey(dataFolder) },
  configKeys: [{ id: 'first', key: await configKey(dataFolder) }],
  mailer: {
    // A product hands them to its transport here, with `html` beside the text.
    async send({ to }, { subject, text }) {
      console.log(`\nMail to ${to}: ${subject}\n\n${text}`)
    },
  },
}).catch(async (error: unknown) => {
  await database.close()
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  if (!isTaken) throw error
  console.error(`Port ${port} is taken. Set PORT to a free one.`)
  process.exit(1)
})
console.log('Making the first operator, unless there is one …')
const operator = await ensureFirstOperator(host.auth, dataFolder)
console.log(`\nPostern console

  users        ${host.clientUrl}
  operators    ${host.operatorUrl}
  mails        ${host.clientUrl}/demo/mails

  first operator    ${operator.email}
  password          ${operator.password}

Mails are printed here too. Stop with Ctrl-C.`)

let stopping: Promise<void> | undefined

async function stop(): Promise<void> {
  await host.close()
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
