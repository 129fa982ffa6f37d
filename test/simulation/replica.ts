import { createHash } from 'node:crypto'
import { createAuth } from '../../src/create-auth.js'
import type { ExchangeReply } from '../../src/http/request/exchange.js'
import type { Backend } from '../../src/ports/backend.js'
import type { Clock } from '../../src/ports/clock.js'
import type { Random } from '../../src/ports/random.js'
import type { Auth } from '../../src/setup/auth.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import { smallSigningKey, testConfigKeys } from '../support/keys.js'
import { stubHasher } from './stub-hasher.js'

/** Of a seed and a name alone: each caller has a stream of its own. */
function seededRandom(name: string): Random {
  let drawn = 0
  return {
    bytes(length) {
      drawn += 1
      return createHash('shake256', { outputLength: length }).update(`${name} ${drawn}`).digest()
    },
  }
}

const silent = (): void => {}

export async function replica(backend: Backend, clock: Clock, name: string): Promise<Auth> {
  const auth = await createAuth({
    ...withoutLimits,
    settings: { ...withoutLimits.settings, lockoutThreshold: 0 },
    keys: { current: smallSigningKey() },
    configKeys: testConfigKeys,
    backend,
    clock,
    random: seededRandom(name),
    fetcher: { fetch: () => Promise.reject(new Error('nothing is reached outside')) },
    mailer: { send: async () => {} },
    hash: { implementation: stubHasher(), allowWeakHashesForTests: true },
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    env: {},
    sweep: false,
  })
  await auth.migrate()
  return auth
}

export interface Asked {
  readonly path: string
  readonly bearer: string
  readonly body: object | null
}

/** A request below the adapters of the frameworks. */
export async function ask(auth: Auth, { path, bearer, body }: Asked): Promise<ExchangeReply> {
  const headers: Readonly<Record<string, string>> = {
    host: 'app.example.com',
    ...(body && { 'content-type': 'application/json' }),
    ...(bearer && { authorization: `Bearer ${bearer}` }),
  }
  const reply = await auth.both.handle({
    method: body ? 'POST' : 'GET',
    path: `/v1/auth/client${path}`,
    query: '',
    header: (name) => headers[name],
    remoteAddress: '192.0.2.1',
    body: async () =>
      body ? { kind: 'bytes', bytes: Buffer.from(JSON.stringify(body)) } : { kind: 'empty' },
  })
  if (reply === null) throw new Error(`${path} is not served`)
  return reply
}
