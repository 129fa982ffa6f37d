import { createHash } from 'node:crypto'
import { createAuth } from '../../src/create-auth.js'
import type { ExchangeReply } from '../../src/http/http-message.js'
import type { Backend } from '../../src/ports/backend.js'
import type { Clock, Mail, PasswordHasher, Random } from '../../src/ports/host.js'
import type { Auth } from '../../src/setup/auth.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import { smallSigningKey, testConfigKeys } from '../support/keys.js'
import { shop } from './shop.js'

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
  /** Lists no one any more, as a Redis without persistence after a restart. */
  loseDenylist(): void
  readonly settings: { readonly lockoutThreshold: number }
  readonly hasher: PasswordHasher
  logged(line: string): void
}

/** One process. When it is killed, its timers go with it. */
export interface Replica {
  readonly auth: Auth
  kill(): void
}

export async function startReplica(
  surroundings: Surroundings,
  { name, skewMs }: { readonly name: string; readonly skewMs: number },
): Promise<Replica> {
  const { backend, clock, mailed, logged } = surroundings
  const timers = new Set<() => void>()
  let isKilled = false
  const own: Clock = {
    now: () => clock.now() + skewMs,
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
    // Passwordless, so that there is another way in where the login by password is switched off.
    settings: {
      ...withoutLimits.settings,
      ...surroundings.settings,
      webauthnMode: 'passwordless',
    },
    keys: { current: smallSigningKey() },
    modules: [shop],
    configKeys: testConfigKeys,
    backend,
    clock: own,
    random: seededRandom(name),
    fetcher: { fetch: () => Promise.reject(new Error('nothing is reached outside')) },
    mailer: { send: async (mail) => mailed(mail) },
    hash: { implementation: surroundings.hasher, allowWeakHashesForTests: true },
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

/** The replica that a request goes to. */
export interface Door {
  readonly auth: Auth
}

export interface Asked {
  /** Below the surface of clients, or the whole path. */
  readonly path: string
  readonly method?: 'GET' | 'POST'
  readonly bearer?: string
  readonly cookie?: string
  /** Whether tokens come in the body. */
  readonly inBody?: true
  readonly body: object | null
}

/** A request below the adapters of the frameworks. */
export async function ask({ auth }: Door, asked: Asked): Promise<ExchangeReply> {
  const { path, bearer, cookie, body, method } = asked
  const headers: Readonly<Record<string, string>> = {
    host: path.startsWith('/v1/') ? 'admin.example.com' : 'app.example.com',
    ...(body && { 'content-type': 'application/json' }),
    ...(bearer && { authorization: `Bearer ${bearer}` }),
    ...(cookie && { cookie, 'sec-fetch-site': 'same-origin' }),
    ...(asked.inBody && { 'x-token-delivery': 'body' }),
  }
  const reply = await auth.both.handle({
    method: method ?? (body ? 'POST' : 'GET'),
    path: path.startsWith('/v1/') ? path : `/v1/auth/client${path}`,
    query: '',
    header: (name) => headers[name],
    remoteAddress: '192.0.2.1',
    body: async () =>
      body ? { kind: 'bytes', bytes: Buffer.from(JSON.stringify(body)) } : { kind: 'empty' },
  })
  if (reply === null) throw new Error(`${path} is not served`)
  return reply
}
