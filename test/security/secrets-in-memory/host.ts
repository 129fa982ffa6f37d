// A host in a process of its own: what its heap holds is the library's and Node's alone.
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { writeHeapSnapshot } from 'node:v8'
import { expressRouter } from '../../../adapters/express.js'
import { sqlite } from '../../../adapters/sqlite/index.js'
import { createAuth } from '../../../src/create-auth.js'
import { generateSigningKey } from '../../../src/crypto/key-ring.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { listen } from '../../support/hosts/running-host.js'
import { hostOptions, mail } from './host-options.js'

/** What the parent asks for, one at a time; each is answered. */
export type Ask =
  | { readonly kind: 'read' }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'snapshot'; readonly file: string }

const [file = '', configKey = ''] = process.argv.slice(2)
const clock = fakeClock(Date.now())
const auth = await createAuth({
  ...hostOptions(configKey),
  backend: sqlite(new DatabaseSync(file)),
  keys: { current: await generateSigningKey() },
  clock,
  env: {},
  // The sweep reads the settings too.
  sweep: false,
})
const router = expressRouter(auth.both)
const { url } = await listen(
  createServer((request, response) => {
    router(request, response, () => response.writeHead(404).end())
  }),
)

async function answer(ask: Ask): Promise<unknown> {
  if (ask.kind === 'read') return (await auth.config.read(mail)).password.length
  if (ask.kind === 'advance') return clock.advance(ask.ms)
  for (let round = 0; round < 3; round += 1) globalThis.gc?.()
  return writeHeapSnapshot(ask.file)
}

process.on('message', (ask: Ask) => {
  void answer(ask).then((answered) => process.send?.(answered ?? null))
})
process.once('disconnect', () => process.exit())
process.send?.(url)
