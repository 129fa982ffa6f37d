import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { nodeRsHasher } from '../../../src/crypto/argon2-hashers.js'
import { countingHasher } from '../../../src/testing/counting-hasher.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { newAddress, openHost, outcomeOf, seenOf } from '../../support/hosts/open-host.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  administrator,
  grant,
  peopleMay,
  revoke,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { refusedIn } from './refused-pairs.js'
import { ask, methods, type Pair, unknown } from './token-endpoint-steps.js'

const open = (options: HostOptions = {}) =>
  openHost({ authorizer: peopleMay, ...withoutLimits, ...options })

/** Both doors, and both methods of the one for OAuth libraries. */
const ways: Readonly<Record<string, (host: ContractHost, pair: Pair) => Promise<Reply>>> = {
  JSON: grant,
  ...Object.fromEntries(
    Object.entries(methods).map(([name, way]) => [
      name,
      (host: ContractHost, pair: Pair) => ask(host, way(pair)),
    ]),
  ),
}

/** Text without UTF-8 cannot be spelled in a form, and no server takes so long a header. */
const canBeAsked = (way: string, { clientId, clientSecret }: Pair): boolean =>
  way === 'JSON' || (clientSecret.isWellFormed() && `${clientId}${clientSecret}`.length < 11_000)

describe('a grant that is refused', () => {
  it('is one and the same reply, whatever was wrong', async () => {
    const host = await open({ settings: { ...withoutLimits.settings, grantFailuresPerIp: 1000 } })
    const replies: [string, Reply][] = []
    for (const [name, pair] of Object.entries(await refusedIn(host))) {
      replies.push([name, await grant(host, pair)])
    }
    const [[, first] = ['', null]] = replies
    if (first === null) throw new Error('nothing was refused')
    expectProblem(first, 401, 'invalid_client')
    expect(first.headers.get('www-authenticate')).toBe('Bearer')
    for (const [name, reply] of replies)
      expect([name, seenOf(reply)]).toEqual([name, seenOf(first)])
  })

  it('costs exactly one verification of the same costs, and the same reads', async () => {
    const hasher = countingHasher(nodeRsHasher())
    const store = faultyBackend(memory())
    const hash = { ...cheapHash, implementation: hasher }
    const host = await open({ backend: store.backend, hash })
    const refused = await refusedIn(host)
    const asked = Object.entries(ways).flatMap(([way, send]) =>
      Object.entries(refused)
        .filter(([, pair]) => canBeAsked(way, pair))
        .map(([what, pair]) => ({ name: `${way}: ${what}`, send, pair })),
    )
    expect(asked.length).toBeGreaterThan(55)
    for (const { name, send, pair } of asked) {
      await host.auth.close()
      const verified = hasher.verified.length
      const calls = store.calls.length
      expect([name, outcomeOf(await send(host, pair))]).toEqual([name, '401 invalid_client'])
      const made = hasher.verified.slice(verified)
      expect([name, made.map((phc) => phc.split('$').slice(1, 4).join('$'))]).toEqual([
        name,
        ['argon2id$v=19$m=64,t=1,p=1'],
      ])
      expect([name, store.calls.slice(calls).filter((call) => !/audit/.test(call))]).toEqual([
        name,
        [
          ...['service_account_credentials.find', 'operator_users.get'],
          ...['counter.hit', 'counter.hit', 'counter.hit'],
        ],
      ])
    }
  })
})

describe('throttles on failed grants', () => {
  const limits = { grantFailuresPerIp: 5, grantFailuresPerClient: 3 }
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  let clients = 0
  const stranger = (): Pair => {
    clients += 1
    return { ...unknown, clientId: `sa_${String(clients).padStart(22, '0')}` }
  }

  async function rig(options: HostOptions = {}) {
    const host = await openHost({ authorizer: peopleMay, settings: limits, ...options })
    const who = await administrator(host)
    return { host, who, account: await serviceAccount(host, who) }
  }

  it('count by address, whatever client ids were tried', async () => {
    const { host, account } = await rig()
    const bad = from('192.0.2.1')
    for (let n = 0; n < 5; n += 1) {
      expect(outcomeOf(await grant(host, stranger(), bad))).toBe('401 invalid_client')
    }
    const throttled = await grant(host, stranger(), bad)
    expectProblem(throttled, 429, 'rate_limited')
    // R-5-10: nor does a right one get through, or tell itself from a wrong one.
    expect(seenOf(await grant(host, account, bad))).toEqual(seenOf(throttled))
    expect((await grant(host, account, from('192.0.2.2'))).status).toBe(200)
    await host.auth.close()
    await host.clock.advance(5 * 60_000 - 1)
    expect((await grant(host, stranger(), bad)).status).toBe(429)
    await host.clock.advance(1)
    expect((await grant(host, stranger(), bad)).status).toBe(401)

    // Without a proxy, the address is that of the connection, whatever a header says.
    const direct = await rig({ trustProxy: false })
    for (let n = 0; n < 5; n += 1) {
      const forged = from(`192.0.2.${n + 10}`)
      expect((await grant(direct.host, stranger(), forged)).status).toBe(401)
    }
    const sixth = await grant(direct.host, stranger(), from('192.0.2.99'))
    expectProblem(sixth, 429, 'rate_limited')
  })

  it('count alike, and answer alike, whatever there is of the client id', async () => {
    const { host, who, account } = await rig()
    const revoked = await serviceAccount(host, who)
    await revoke(host, who, revoked.id, revoked.credentialId)
    const disabled = await serviceAccount(host, who)
    await host.auth.operator.users.update(disabled.id, { enabled: false })
    const pairs: Readonly<Record<string, Pair>> = {
      'one that exists': { ...account, clientSecret: unknown.clientSecret },
      'one that was revoked': revoked,
      'one of a disabled account': disabled,
      'one that does not exist': stranger(),
    }
    const seen: [string, unknown[]][] = []
    for (const [at, [name, pair]] of Object.entries(pairs).entries()) {
      const here = from(`192.0.2.${at + 1}`)
      const replies: Reply[] = []
      // By client id and address, …
      for (let n = 0; n < 4; n += 1) replies.push(await grant(host, pair, here))
      // … by address, whatever the client id, …
      for (let n = 0; n < 3; n += 1) replies.push(await grant(host, stranger(), here))
      // … with a secret that is right …
      replies.push(await grant(host, account, here))
      // … and by client id, from wherever.
      for (let n = 0; n < 28; n += 1) replies.push(await grant(host, pair))
      const [, , , byPair, , , byAddress, right, ...others] = replies.map(outcomeOf)
      expect([byPair, byAddress, right]).toEqual(Array(3).fill('429 rate_limited'))
      expect([others[0], others.at(-1)]).toEqual(['401 invalid_client', '429 rate_limited'])
      seen.push([name, replies.map(seenOf)])
    }
    const [[, first] = ['', []]] = seen
    for (const [name, replies] of seen) expect([name, replies]).toEqual([name, first])
  })

  it('count a network of IPv6 as one, and believe no header', async () => {
    const { host } = await rig()
    for (let n = 0; n < 5; n += 1) await grant(host, stranger(), from(`2001:db8::${n}`))
    expect((await grant(host, stranger(), from('2001:db8::ffff'))).status).toBe(429)
    expect((await grant(host, stranger(), from('2001:db8:0:1::1'))).status).toBe(401)
    const alone = await rig({ trustProxy: false })
    for (let n = 0; n < 5; n += 1) await grant(alone.host, stranger())
    expect((await grant(alone.host, stranger())).status).toBe(429)
  })

  it('count by client id and address, existing or not, and answer alike', async () => {
    const { host, account } = await rig()
    const nobody = stranger()
    const wrong = { ...account, clientSecret: unknown.clientSecret }
    const seen: Reply[][] = [[], []]
    for (let n = 0; n < 5; n += 1) {
      seen[0]?.push(await grant(host, wrong, from('192.0.2.1')))
      seen[1]?.push(await grant(host, nobody, from('192.0.2.2')))
    }
    expect(seen[0]?.map(seenOf)).toEqual(seen[1]?.map(seenOf))
    expect(seen[0]?.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429])
    const [, , , throttled] = seen[0] ?? []
    const right = await grant(host, account, from('192.0.2.1'))
    expect(seenOf(right)).toEqual(throttled && seenOf(throttled))
    // Wrong secrets from one address keep out that address alone.
    expect((await grant(host, account, from('192.0.2.3'))).status).toBe(200)
  })

  it('count by client id over all addresses, existing or not', async () => {
    const { host, account } = await rig()
    const nobody = stranger()
    const wrong = { ...account, clientSecret: unknown.clientSecret }
    for (let n = 0; n < 30; n += 1) {
      expect((await grant(host, wrong)).status).toBe(401)
      expect((await grant(host, nobody)).status).toBe(401)
    }
    const throttled = await grant(host, wrong)
    expectProblem(throttled, 429, 'rate_limited')
    expect(seenOf(await grant(host, nobody))).toEqual(seenOf(throttled))
    expect((await grant(host, account)).status).toBe(200)
    // What is wrong still counts where it comes from.
    const here = from('192.0.2.1')
    for (let n = 0; n < 3; n += 1) expect((await grant(host, wrong, here)).status).toBe(429)
    expect((await grant(host, stranger(), here)).status).toBe(401)
    await host.auth.close()
    await host.clock.advance(5 * 60_000 - 1)
    expect((await grant(host, nobody)).status).toBe(429)
    await host.clock.advance(1)
    expect((await grant(host, nobody)).status).toBe(401)
  })

  it('refuse alike, for one hash, once the failures of a client id are used up', async () => {
    const hasher = countingHasher(nodeRsHasher())
    const { host, who, account } = await rig({ hash: { ...cheapHash, implementation: hasher } })
    const revoked = await serviceAccount(host, who)
    await revoke(host, who, revoked.id, revoked.credentialId)
    const disabled = await serviceAccount(host, who)
    await host.auth.operator.users.update(disabled.id, { enabled: false })
    const wrong = { ...account, clientSecret: unknown.clientSecret }
    const seen: unknown[] = []
    for (const pair of [wrong, revoked, disabled, stranger()]) {
      await Promise.all(Array.from({ length: 30 }, () => grant(host, pair)))
      const verified = hasher.verified.length
      seen.push([seenOf(await grant(host, pair)), hasher.verified.length - verified])
    }
    expect(seen).toEqual(Array(4).fill([expect.objectContaining({ status: 429 }), 1]))
    expect(seen).toEqual(Array(4).fill(seen[0]))
  })

  it('let the right secret through within 2 s while 20 addresses flood its client id', async () => {
    const settings = { grantFailuresPerIp: 30, grantFailuresPerClient: 4 }
    const { host, account } = await rig({ settings, hash: {} })
    const floodFrom = (at: number, n: number) => {
      const pair = { ...account, clientSecret: `${unknown.clientSecret}${at}-${n}` }
      return grant(host, pair, from(`10.3.${at}.1`))
    }
    const flood = (count: number, first: number) =>
      Array.from({ length: 20 * count }, (_, n) => floodFrom(n % 20, first + Math.floor(n / 20)))
    // The second round uses up the failures of the client id; no address has as many as it may.
    await Promise.all(flood(2, 0))
    const last = flood(1, 2)
    const startedAt = performance.now()
    const right = await grant(host, account, from('192.0.2.77'))
    expect([right.status, performance.now() - startedAt < 2000]).toEqual([200, true])
    const statuses = new Set((await Promise.all(last)).map(({ status }) => status))
    expect(statuses).toContain(429)
    expect([...statuses].filter((status) => status !== 429 && status !== 503)).toEqual([])
  })

  it('a secret that was verified a short while ago is held up by no failures', async () => {
    const { host, account } = await rig()
    const here = from('192.0.2.1')
    expect((await grant(host, account, here)).status).toBe(200)
    const wrong = { ...account, clientSecret: unknown.clientSecret }
    for (let n = 0; n < 4; n += 1) await grant(host, wrong, here)
    for (let n = 0; n < 30; n += 1) await grant(host, wrong)
    expect((await grant(host, wrong)).status).toBe(429)
    expect((await grant(host, account, here)).status).toBe(200)
  })

  it('such a secret touches no count of failures, and is refused as soon as it is revoked', async () => {
    const store = faultyBackend(memory())
    const { host, who, account } = await rig({ backend: store.backend })
    expect((await grant(host, account)).status).toBe(200)
    await host.auth.close()
    const calls = store.calls.length
    expect((await grant(host, account)).status).toBe(200)
    const made = store.calls.slice(calls).filter((call) => !/audit/.test(call))
    expect(made).toEqual([...['service_account_credentials.find', 'operator_users.get']])
    await revoke(host, who, account.id, account.credentialId)
    expect(outcomeOf(await grant(host, account))).toBe('401 invalid_client')
  })

  it('what succeeds counts nothing, and clears nothing', async () => {
    const { host, account } = await rig()
    const wrong = { ...account, clientSecret: unknown.clientSecret }
    const here = from('192.0.2.1')
    await grant(host, wrong, here)
    await grant(host, wrong, here)
    for (let n = 0; n < 40; n += 1) expect((await grant(host, account, here)).status).toBe(200)
    expect((await grant(host, wrong, here)).status).toBe(401)
    expect((await grant(host, wrong, here)).status).toBe(429)
  })

  it('forty at once that succeed are no failures', async () => {
    const { host, account } = await rig()
    const here = from('192.0.2.1')
    const replies = await Promise.all(Array.from({ length: 40 }, () => grant(host, account, here)))
    expect(replies.map(outcomeOf)).toEqual(Array.from({ length: 40 }, () => '200'))
  })

  it('parallel guesses get no more than the limit', async () => {
    const { host, account } = await rig()
    const wrong = { ...account, clientSecret: unknown.clientSecret }
    const here = from('192.0.2.1')
    const replies = await Promise.all(Array.from({ length: 20 }, () => grant(host, wrong, here)))
    const outcomes = replies.map(outcomeOf).sort()
    expect(outcomes).toEqual([
      ...Array.from({ length: 3 }, () => '401 invalid_client'),
      ...Array.from({ length: 17 }, () => '429 rate_limited'),
    ])
  })

  it.each(['service_account_credentials.find', 'operator_users.get'])(
    'a failing store (%s) is 503 and no failed attempt',
    async (call) => {
      const store = faultyBackend(memory())
      const { host, account } = await rig({ backend: store.backend })
      const here = from(newAddress())
      store.failNext(call, 'before', Number.POSITIVE_INFINITY)
      for (let n = 0; n < 8; n += 1) {
        expectProblem(await grant(host, account, here), 503, 'service_unavailable')
        expectProblem(await grant(host, unknown, here), 503, 'service_unavailable')
      }
      store.heal()
      expect((await grant(host, account, here)).status).toBe(200)
      for (const pair of [unknown, unknown, unknown]) {
        expect((await grant(host, pair, here)).status).toBe(401)
      }
    },
  )

  it('a busy server is 503 alike for all, and no failed attempt', async () => {
    let isBusy = false
    const real = nodeRsHasher()
    const blocked: (() => void)[] = []
    const implementation = {
      hash: real.hash.bind(real),
      verify: (...given: Parameters<typeof real.verify>) =>
        isBusy
          ? new Promise<boolean>((resolve) => blocked.push(() => resolve(false)))
          : real.verify(...given),
    }
    const { host, account } = await rig({
      hash: { ...cheapHash, implementation, concurrency: 1, queue: 0 },
    })
    const somebody = stranger()
    isBusy = true
    const first = grant(host, somebody)
    while (blocked.length === 0) await new Promise((resolve) => setImmediate(resolve))
    for (const pair of [account, unknown, account, unknown, account, unknown, account]) {
      expectProblem(await grant(host, pair), 503, 'server_busy')
    }
    isBusy = false
    for (const release of blocked) release()
    expect((await first).status).toBe(401)
    expect((await grant(host, account)).status).toBe(200)
  })

  it('without the counter each process counts for itself, and nobody is let off', async () => {
    const store = faultyBackend(memory())
    const { host, account } = await rig({ backend: store.backend })
    store.failNext('counter.hit', 'before', Number.POSITIVE_INFINITY)
    store.failNext('counter.forgive', 'before', Number.POSITIVE_INFINITY)
    const here = from('192.0.2.1')
    const nobody = stranger()
    const outcomes: number[] = []
    for (let n = 0; n < 4; n += 1) outcomes.push((await grant(host, nobody, here)).status)
    expect(outcomes).toEqual([401, 401, 401, 429])
    for (let n = 0; n < 6; n += 1) expect((await grant(host, account)).status).toBe(200)
  })
})
