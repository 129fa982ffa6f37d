import { createHash } from 'node:crypto'
import { createAuth } from '../../src/create-auth.js'
import type { ExchangeReply } from '../../src/http/request/exchange.js'
import type { Backend } from '../../src/ports/backend.js'
import type { Clock } from '../../src/ports/clock.js'
import type { Mail } from '../../src/ports/mailer.js'
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

/** What a replica shares with the others, and what becomes of what it says. */
export interface Surroundings {
  readonly backend: Backend
  readonly clock: Clock
  mailed(mail: Mail): void
  logged(line: string): void
}

/** One process. When it is killed, its timers go with it. */
export interface Replica {
  readonly auth: Auth
  kill(): void
}

export async function startReplica(surroundings: Surroundings, name: string): Promise<Replica> {
  const { backend, clock, mailed, logged } = surroundings
  const timers = new Set<() => void>()
  let isKilled = false
  const own: Clock = {
    now: () => clock.now(),
    after(ms, run) {
      const cancel = clock.after(ms, () => {
        timers.delete(cancel)
        if (!isKilled) run()
      })
      timers.add(cancel)
      return cancel
    },
  }
  const log = (...told: readonly unknown[]): void =>
    logged(
      told.map((one) => (one instanceof Error ? String(one.stack) : JSON.stringify(one))).join(' '),
    )
  const auth = await createAuth({
    ...withoutLimits,
    settings: { ...withoutLimits.settings, lockoutThreshold: 0 },
    keys: { current: smallSigningKey() },
    configKeys: testConfigKeys,
    backend,
    clock: own,
    random: seededRandom(name),
    fetcher: { fetch: () => Promise.reject(new Error('nothing is reached outside')) },
    mailer: { send: async (mail) => mailed(mail) },
    hash: { implementation: stubHasher(), allowWeakHashesForTests: true },
    logger: { debug: log, info: log, warn: log, error: log },
    env: {},
    sweep: false,
  })
  await auth.migrate()
  return {
    auth,
    kill() {
      isKilled = true
      for (const cancel of timers) cancel()
    },
  }
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
