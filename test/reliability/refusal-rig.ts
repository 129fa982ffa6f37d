import { createHash } from 'node:crypto'
import { memory } from '../../adapters/memory/index.js'
import { formatPhc, parsePhc } from '../../src/crypto/phc.js'
import type { ExchangeReply } from '../../src/http/http-message.js'
import type { AuthOptions } from '../../src/options.js'
import type { PasswordHasher } from '../../src/ports/host.js'
import type { Surface } from '../../src/ports/surface.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { type TestAuth, testAuth } from '../support/hosts/test-auth.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import type { Refusal, Refusals } from './refusals.js'
import { type SlowWork, slowWork } from './slow-backend.js'

/** By work alone: what takes no time cannot be told apart by it, so that the clock is all there is. */
export const instantHasher: PasswordHasher = {
  async hash(password, params, salt) {
    const tag = createHash('sha256').update(salt).update(password).digest()
    return formatPhc({ variant: 'argon2id', version: 19, ...params, salt, tag })
  },
  async verify(phc, password) {
    const parsed = parsePhc(phc)
    return parsed !== null && (await instantHasher.hash(password, parsed, parsed.salt)) === phc
  },
}

/** What a request came to: the reply, milliseconds of the fake clock, and the calls behind it. */
export interface Sent {
  readonly reply: ExchangeReply
  readonly took: number
  readonly calls: readonly string[]
}

export interface RefusalRig {
  readonly refusals: Refusals
  readonly work: SlowWork
  send(refusal: Refusal): Promise<Sent>
}

type Hash = Pick<NonNullable<AuthOptions['hash']>, 'params'>

export const rigSettings = {
  ...withoutLimits.settings,
  lockoutThreshold: 100,
  grantFailuresPerIp: 1000,
  grantFailuresPerClient: 100,
}

/** A host whose store and hashes take as long on the fake clock as the test says. */
export async function refusalRig(
  surface: Surface,
  prepare: (host: TestAuth) => Promise<Refusals>,
  given: { readonly hash?: Hash; readonly options?: Partial<AuthOptions> } = {},
): Promise<RefusalRig> {
  const clock = fakeClock()
  const work = slowWork(clock, memory(), instantHasher)
  const hash = { ...given.hash, implementation: work.hasher }
  const options = { ...withoutLimits, settings: rigSettings, ...given.options }
  const host = await testAuth({ ...options, clock, backend: work.backend, hash })
  const refusals = await prepare({ ...host, clock })
  const mounted = host.auth[surface]

  async function send({ path, body, bearer, headers: own }: Refusal): Promise<Sent> {
    const from = work.calls.length
    const sentAt = clock.now()
    const headers: Readonly<Record<string, string>> = {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...own,
    }
    let reply: ExchangeReply | null = null
    let calls: readonly string[] = []
    const pending = mounted
      .handle({
        method: 'POST',
        path,
        query: '',
        header: (name) => headers[name],
        remoteAddress: '192.0.2.1',
        body: async () => ({ kind: 'parsed', value: body }),
      })
      .then((answer) => {
        reply = answer
        calls = work.calls.slice(from).filter((call) => !call.includes('audit_records'))
      })
    while (reply === null) await clock.advance(1)
    await pending
    const took = clock.now() - sentAt
    // What goes on beside the request nobody waits for.
    await clock.advance(1000)
    return { reply, took, calls }
  }
  return { refusals, send, work }
}

/** All that a caller can see of a reply. */
export function bytesOf({ status, headers, cookies, body }: ExchangeReply): unknown {
  return { status, headers: Object.entries(headers), cookies, body }
}
