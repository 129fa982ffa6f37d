import { decodeProtectedHeader } from 'jose'
import type { KeyRing } from 'postern'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { encode, forge, rsaPair } from '../../crypto/forge.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { type SignedIn, signedInPerson } from '../../support/people/people.js'
import { withCall } from '../../support/stores/faulty-backend.js'

const second = 1000
const minute = 60 * second
const [firstKey, secondKey, otherKey] = [rsaPair(), rsaPair(), rsaPair()].map(
  ({ privateKey }) => privateKey,
) as [string, string, string]
let madeUpKeys = 0
const at = (path: string): string => `/v1/auth/client${path}`

interface Replicas {
  readonly busy: ContractHost
  readonly idle: ContractHost
  advance(ms: number): Promise<void>
  /** What the host's function gives, or fails with; how often it was called. */
  readonly source: { give: () => Promise<KeyRing>; reads: number }
}

/** Two processes on one database, whose host gives the ring as a function. */
async function openReplicas(): Promise<Replicas> {
  const backend = memory()
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const source = { give: async (): Promise<KeyRing> => ({ current: firstKey }), reads: 0 }
  const keys = () => {
    source.reads += 1
    return source.give()
  }
  const busy = await openHost({ backend, clock, keys })
  const idle = await openHost({ backend, clock, keys })
  // A ring is loaded beside the clock: its keys are hashed in another thread.
  const advance = async (ms: number) => {
    await clock.advance(ms)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { busy, idle, source, advance }
}

const refresh = (host: ContractHost, { cookie }: Pick<SignedIn, 'cookie'>) =>
  host.send('POST', at('/refresh-cookie'), { cookie })
const me = (host: ContractHost, { bearer }: Pick<SignedIn, 'bearer'>) =>
  host.send('GET', at('/me'), { bearer })

/** A refresh token that no key of any ring signed. */
function madeUp(): SignedIn {
  madeUpKeys += 1
  const kid = encode(`${madeUpKeys}`.padEnd(32, '-')).slice(0, 43)
  const token = forge({ alg: 'RS256', kid, typ: 'rt+jwt' }, { tokenUse: 'refresh' }, otherKey)
  return { bearer: token, refreshToken: token, cookie: `__Host-cl_refresh=${token}` }
}

describe('a rotated key ring that a function gives, on two replicas', () => {
  it('an idle replica accepts tokens of a key it has not heard of', async () => {
    const { busy, idle, source } = await openReplicas()
    source.give = async () => ({ current: secondKey, previous: [firstKey] })
    await busy.auth.keys.reload()
    const who = await signedInPerson(busy, 'client')
    expect(outcomeOf(await me(idle, who))).toBe('200')
    expect(outcomeOf(await refresh(idle, who))).toBe('200')
    expect(source.reads).toBe(4)
  })

  it('an idle replica refuses a key that was taken out, a minute later', async () => {
    const { busy, idle, source, advance } = await openReplicas()
    const who = await signedInPerson(busy, 'client')
    source.give = async () => ({ current: secondKey })
    await advance(minute)
    expect(outcomeOf(await me(idle, who))).toBe('401')
    const refused = await refresh(idle, who)
    expect(outcomeOf(refused)).toBe('401 refresh_token_invalid')
    // The replica cannot know that the key is gone for good: the browser keeps its cookie.
    expect(refused.setCookies).toEqual([])
  })

  it('made-up keys cost one read in five seconds, and clear no cookie', async () => {
    const { idle, source, advance } = await openReplicas()
    const before = source.reads
    const tokens = new Array<SignedIn>(5).fill(madeUp())
    const burst = async (sent: readonly SignedIn[]) => {
      const replies = await Promise.all(sent.map((token) => refresh(idle, token)))
      expect(replies.flatMap(({ setCookies }) => setCookies)).toEqual([])
      return new Set(replies.map(outcomeOf))
    }
    const refused = new Set(['401 refresh_token_invalid'])
    expect(await burst(tokens)).toEqual(refused)
    expect(await burst(tokens)).toEqual(refused)
    // A key that was not looked for yet may be good: no verdict before the next read.
    const undecided = new Set(['503 session_enforcement_unavailable'])
    expect(await burst(Array.from({ length: 5 }, madeUp))).toEqual(undecided)
    expect(source.reads).toBe(before + 1)
    await advance(5 * second - 1)
    await burst(tokens)
    expect(source.reads).toBe(before + 1)
    await advance(1)
    expect(await burst(tokens)).toEqual(refused)
    expect(source.reads).toBe(before + 2)
  })

  it('among made-up keys, tokens of a key that was taken out are refused, not kept waiting', async () => {
    const { idle, source, advance } = await openReplicas()
    const who = await signedInPerson(idle, 'client')
    source.give = async () => ({ current: secondKey })
    await idle.auth.keys.reload()
    await refresh(idle, madeUp())
    // Another token was first; the next read looks for this one as well, whoever causes it.
    expect(outcomeOf(await me(idle, who))).toBe('503 session_enforcement_unavailable')
    for (let round = 0; round < 3; round += 1) {
      await advance(5 * second)
      await refresh(idle, madeUp())
      expect(outcomeOf(await me(idle, who))).toBe('401')
    }
  })

  it('made-up keys keep no good token out for longer than that', async () => {
    const { busy, idle, source, advance } = await openReplicas()
    await refresh(idle, madeUp())
    source.give = async () => ({ current: secondKey, previous: [firstKey] })
    await busy.auth.keys.reload()
    const who = await signedInPerson(busy, 'client')
    expect(outcomeOf(await refresh(idle, who))).toBe('503 session_enforcement_unavailable')
    await advance(5 * second)
    expect(outcomeOf(await refresh(idle, who))).toBe('200')
  })

  it('a logout with nothing but a cookie of an unknown key leaves the cookie', async () => {
    const { idle } = await openReplicas()
    const refused = await idle.send('POST', at('/logout'), { cookie: madeUp().cookie })
    expect(outcomeOf(refused)).toBe('401')
    expect(refused.setCookies).toEqual([])
  })

  it.each(['looked for in vain', 'still looked for'] as const)(
    'a logout with a good token beside one of a key that is %s ends its session',
    async (which) => {
      const { idle } = await openReplicas()
      const logout = (given: object) => idle.send('POST', at('/logout'), given)
      const made = madeUp()
      const first = which === 'still looked for' ? madeUp() : made
      expect(outcomeOf(await refresh(idle, first))).toBe('401 refresh_token_invalid')
      const undecided = which === 'still looked for' ? '503 session_enforcement_unavailable' : '401'
      const { refreshToken } = made
      const alone = await logout({ body: { refreshToken } })
      expect([outcomeOf(alone).slice(0, 3), alone.setCookies]).toEqual([undecided.slice(0, 3), []])
      const [byBearer, byCookie] = [
        await signedInPerson(idle, 'client'),
        await signedInPerson(idle, 'client'),
      ]
      const replies = [
        await logout({ bearer: byBearer.bearer, body: { refreshToken } }),
        await logout({ cookie: byCookie.cookie, body: { refreshToken } }),
      ]
      expect(replies.map(outcomeOf)).toEqual(['204', '204'])
      for (const who of [byBearer, byCookie]) {
        expect(outcomeOf(await me(idle, who))).toBe('401 session_revoked')
      }
      const planted = await signedInPerson(idle, 'client')
      const out = await logout({ bearer: planted.bearer, cookie: made.cookie })
      expect(outcomeOf(out)).toBe('204')
    },
  )

  it('a ring that was not read for two minutes is trusted no more: 503, and never 401', async () => {
    const { idle, source, advance } = await openReplicas()
    const who = await signedInPerson(idle, 'client')
    source.give = () => Promise.reject(new Error('the vault is sealed'))
    await advance(2 * minute - second)
    expect(outcomeOf(await me(idle, who))).toBe('200')
    await advance(second)
    const unavailable = '503 session_enforcement_unavailable'
    expect(outcomeOf(await me(idle, who))).toBe(unavailable)
    const refused = await refresh(idle, who)
    expect([outcomeOf(refused), refused.setCookies]).toEqual([unavailable, []])
    expect(outcomeOf(await idle.send('GET', at('/jwks')))).toBe('503 service_unavailable')
    const body = { email: who.email, password: who.password }
    const login = await idle.send('POST', at('/login'), { body })
    expect(outcomeOf(login)).toBe('503 service_unavailable')
    source.give = async () => ({ current: firstKey })
    await advance(10 * second)
    expect(outcomeOf(await me(idle, who))).toBe('200')
    expect(outcomeOf(await refresh(idle, who))).toBe('200')
  })

  it('a process that stood still reads the ring at its first request', async () => {
    const { idle, source, advance } = await openReplicas()
    const who = await signedInPerson(idle, 'client')
    // Without its timer, as on a host that freezes processes between requests.
    await idle.auth.close()
    await advance(3 * minute)
    expect(outcomeOf(await me(idle, who))).toBe('200')
    source.give = async () => ({ current: secondKey })
    await advance(3 * minute)
    expect(outcomeOf(await idle.send('GET', at('/jwks')))).toBe('200')
    await advance(5 * second)
    expect(outcomeOf(await me(idle, who))).toBe('401')
  })

  it('the ring is read every minute until close, and not after', async () => {
    const { busy, idle, source, advance } = await openReplicas()
    const before = source.reads
    await advance(minute)
    expect(source.reads).toBe(before + 2)
    await busy.auth.close()
    await idle.auth.close()
    await advance(10 * minute)
    expect(source.reads).toBe(before + 2)
  })

  it('keys given as an object are never old, and read once', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const host = await openHost({ clock, keys: { current: firstKey } })
    const who = await signedInPerson(host, 'client')
    await clock.advance(14 * minute)
    expect(outcomeOf(await me(host, who))).toBe('200')
    expect(decodeProtectedHeader(who.bearer).kid).toHaveLength(43)
    expect(outcomeOf(await refresh(host, madeUp()))).toBe('401 refresh_token_invalid')
  })
})

describe('a signing key that is replaced while a request with one of its tokens is under way', () => {
  const ways = {
    'a refresh that gets the newest token again': (host: ContractHost, who: SignedIn) =>
      refresh(host, who),
    'GET /session': (host: ContractHost, { cookie }: SignedIn) =>
      host.send('GET', at('/session'), { cookie }),
  }

  /** A host of which the key is replaced right after the next read of a session's row. */
  async function interrupted() {
    let keys: KeyRing = { current: firstKey }
    const late: (() => Promise<unknown>)[] = []
    const host = await openHost({
      keys: async () => keys,
      wrapBackend: (backend) =>
        withCall(backend, async (called, work) => {
          const found = await work()
          if (called === 'client_refresh_tokens.get') await late.pop()?.()
          return found
        }),
    })
    const who = await signedInPerson(host, 'client')
    await refresh(host, who)
    late.push(async () => {
      keys = { current: secondKey }
      await host.auth.keys.reload()
    })
    return { host, who, late }
  }

  it.each(Object.entries(ways))('gives no token of the new one to %s', async (_, ask) => {
    const { host, who, late } = await interrupted()
    const reply = await ask(host, who)
    expect([late, outcomeOf(reply)]).toEqual([[], '401 refresh_token_invalid'])
    expect(reply.text).not.toMatch(/eyJ[\w-]+\./)
  })

  it('gives none to a page that has one minted', async () => {
    const { host, who, late } = await interrupted()
    const request = {
      method: 'POST',
      headers: { cookie: who.cookie, origin: 'https://app.example.com' },
    }
    const options = { use: 'action', mint: true } as const
    expect(await host.auth.client.sessionOf(request, options)).toBeNull()
    expect(late).toEqual([])
  })
})
