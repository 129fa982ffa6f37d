import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { argon2Hasher } from '../../src/crypto/argon2-hashers.js'
import type { Surface } from '../../src/ports/surface.js'
import type { SurfaceAuth } from '../../src/setup/auth.js'
import { type ContractHost, memoryHost } from '../support/hosts/hosts.js'
import type { Reply } from '../support/hosts/http-client.js'
import { cheapHash } from '../support/hosts/test-auth.js'
import {
  otherPassword,
  type Person,
  person,
  type SignedIn,
  signIn,
  signInApp,
} from '../support/people/people.js'
import { administrator, peopleMay } from '../support/people/service-account-steps.js'
import {
  depthOf,
  type MeteredBackend,
  meteredBackend,
  type TimedCall,
} from '../support/stores/call-depth.js'
import { withCall } from '../support/stores/faulty-backend.js'
import { figure } from './figures.js'

/** One after the other: on a network of half a millisecond this is what a user waits for. */
interface Trips {
  /** Of store and denylist. */
  readonly store: number
  /** With the rate limits, when they are counted in the same database. */
  readonly all: number
}

const isCounter = ({ name }: TimedCall): boolean => name.startsWith('counter.')
/** What goes on beside a request, and no reply waits for. */
const isAudit = ({ name }: TimedCall): boolean =>
  /audit_records\.|known_logins\.(update|insert|take)/.test(name)
/** Factors and past logins, read while the password is hashed, which takes longer: see below. */
const isOfFactors = ({ name }: TimedCall): boolean =>
  /_(totp_factors|backup_codes|passkeys)\.|_known_logins\.find$/.test(name)
const isBeside = (call: TimedCall): boolean => isAudit(call) || isOfFactors(call)

describe.each(['operator', 'client'] as const)('figure trips on the %s surface', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`
  let metered: MeteredBackend
  let host: ContractHost
  let who: Person & SignedIn
  beforeAll(async () => {
    metered = meteredBackend(memory())
    host = await memoryHost.start({ backend: metered.backend })
    const made = await person(host, surface)
    who = { ...made, ...(await signIn(host, surface, made)) }
  })
  afterAll(() => host.close())

  /** The trips of one request, nothing else being under way. */
  async function tripsOf<T>(work: () => Promise<T>): Promise<Trips & { readonly answer: T }> {
    await host.auth.close()
    metered.take()
    const answer = await work()
    await host.auth.close()
    const calls = metered.take().filter((call) => !isBeside(call))
    return {
      answer,
      store: depthOf(calls.filter((call) => !isCounter(call))),
      all: depthOf(calls),
    }
  }

  async function requestTrips(status: number, work: () => Promise<Reply>): Promise<Trips> {
    const { answer, store, all } = await tripsOf(work)
    expect(answer.status, answer.text).toBe(status)
    return { store, all }
  }

  function show(what: string, { store, all }: Trips): void {
    figure(
      'trips',
      `${what}, ${surface} surface`,
      `${store} round trips to store and denylist one after the other, ${all} with the rate limits`,
    )
  }

  const refresh = (refreshToken: string) => () =>
    host.send('POST', at('/refresh'), { body: { refreshToken } })

  it('a refresh: 2, and 1 more to learn why it was too late', async () => {
    const { refreshToken } = await signInApp(host, surface, who)
    const won = await requestTrips(200, refresh(refreshToken))
    const late = await requestTrips(200, refresh(refreshToken))
    expect([won, late]).toEqual([
      { store: 2, all: 2 },
      // How often it came is reported beside the reads.
      { store: 3, all: 3 },
    ])
    show('a refresh that rotates', won)
    show('a refresh that came second', late)
  })

  it('GET session: 2', async () => {
    const trips = await requestTrips(200, () =>
      host.send('GET', at('/session'), { cookie: who.cookie }),
    )
    expect(trips).toEqual({ store: 2, all: 2 })
    show('GET session', trips)
  })

  it('a login: 3 beside the hash, and 4 with its limits', async () => {
    const { email, password } = who
    const trips = await requestTrips(200, () =>
      host.send('POST', at('/login'), { body: { email, password } }),
    )
    expect(trips).toEqual({ store: 3, all: 4 })
    show('a login', trips)
  })

  it.each(['bearer', 'cookie', 'body'] as const)('a logout by the %s: 3', async (by) => {
    const { bearer, cookie } = await signIn(host, surface, who)
    const { refreshToken } = await signInApp(host, surface, who)
    const shown = { bearer: { bearer }, cookie: { cookie }, body: { body: { refreshToken } } }[by]
    const trips = await requestTrips(204, () => host.send('POST', at('/logout'), shown))
    expect(trips).toEqual({ store: 3, all: 3 })
    show(`a logout by the ${by}`, trips)
  })

  it('a wrong password: 1 beside the hash, and 2 with its limits', async () => {
    const body = { email: who.email, password: otherPassword }
    const trips = await requestTrips(401, () => host.send('POST', at('/login'), { body }))
    expect(trips).toEqual({ store: 1, all: 2 })
    show('a wrong password', trips)
  })

  it('… and reads the second factors beside the hash, not after it', async () => {
    let begin = (): void => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const slow = withCall(memory(), (name, work) => {
      if (isOfFactors({ name, begunAt: 0, finishedAt: 0 })) begin()
      return work()
    })
    const hasher = argon2Hasher()
    const verify: typeof hasher.verify = async (phc, password) => {
      await begun
      return hasher.verify(phc, password)
    }
    const hash = { ...cheapHash, implementation: { ...hasher, verify } }
    const other = await memoryHost.start({ backend: slow, hash })
    try {
      await signIn(other, surface, await person(other, surface))
    } finally {
      await other.close()
    }
  })

  it('a route of the host behind a bearer token: 1, the denylist', async () => {
    const { store, all } = await tripsOf(async () => {
      await host.auth[surface].authenticate(`Bearer ${who.bearer}`)
    })
    expect({ store, all }).toEqual({ store: 1, all: 1 })
    show('a route of the host behind a bearer token', { store, all })
  })

  it('… and 0 where the denylist is in the memory of the process', async () => {
    const { denylist } = memory()
    const apart = meteredBackend(memory())
    const other = await memoryHost.start({ backend: { ...apart.backend, denylist } })
    try {
      const { bearer } = await signIn(other, surface, await person(other, surface))
      await other.auth.close()
      apart.take()
      await other.auth[surface].authenticate(`Bearer ${bearer}`)
      expect(apart.take()).toEqual([])
    } finally {
      await other.close()
    }
  })

  it('GET /me: 1, the denylist with the account and what is linked to it beside; 1 more to report how often', async () => {
    const { bearer } = await signIn(host, surface, who)
    const me = () => requestTrips(200, () => host.send('GET', at('/me'), { bearer }))
    expect([await me(), await me()]).toEqual([
      { store: 1, all: 1 },
      { store: 1, all: 1 },
    ])
    const reporting = await me()
    expect(reporting).toEqual({ store: 1, all: 2 })
    show('GET /me', { store: 1, all: 1 })
    show('GET /me from its third time in a minute on', reporting)
  })

  it('a route guarded by a permission: 1 as well, by the guard of a framework', async () => {
    const { requirePermission } = host.auth[surface].guards
    const headers: Readonly<Record<string, string>> = { authorization: `Bearer ${who.bearer}` }
    const request = { remoteAddress: '192.0.2.1', header: (name: string) => headers[name] }
    const { store, all } = await tripsOf(async () => {
      const { refusal } = await requirePermission('auth.self')(request, null)
      expect(refusal).toBeNull()
    })
    expect({ store, all }).toEqual({ store: 1, all: 1 })
    show('a route guarded by a permission, by the guard of a framework', { store, all })
  })

  it('… and 1 more where the host asks itself, one after the other', async () => {
    async function pass<S extends Surface>(guard: SurfaceAuth<S>): Promise<void> {
      await guard.requirePermission(await guard.authenticate(`Bearer ${who.bearer}`), 'auth.self')
    }
    const { operator, client } = host.auth
    const { store, all } = await tripsOf(() =>
      surface === 'operator' ? pass(operator) : pass(client),
    )
    const trips = { store, all }
    expect(trips).toEqual({ store: 2, all: 2 })
    show('a route guarded by a permission', trips)
  })
})

describe('figure trips of the configuration', () => {
  let metered: MeteredBackend
  let host: ContractHost
  let bearer: string
  beforeAll(async () => {
    metered = meteredBackend(memory())
    host = await memoryHost.start({ backend: metered.backend, authorizer: peopleMay })
    const who = await administrator(host)
    bearer = who.bearer
  })
  afterAll(() => host.close())

  const environment = '/v1/admin/modules/auth/environments/production'

  async function tripsOf(method: string, path: string, body?: object): Promise<number> {
    await host.auth.close()
    metered.take()
    const reply = await host.send(method, path, { bearer, ...(body === undefined ? {} : { body }) })
    expect(reply.status, reply.text).toBe(200)
    await host.auth.close()
    return depthOf(metered.take().filter((call) => !isBeside(call) && !isCounter(call)))
  }

  const show = (what: string, trips: number) =>
    figure('trips', what, `${trips} round trips to store and denylist one after the other`)

  it('PATCH of an environment: 4, and of a module, whose active environment it has to learn, 5', async () => {
    const change = (totpIssuer: string) => ({ config: { totpIssuer } })
    const named = await tripsOf('PATCH', environment, change('Acme'))
    const active = await tripsOf('PATCH', '/v1/admin/modules/auth', change('Other'))
    expect([named, active]).toEqual([4, 5])
    show('PATCH of an environment', named)
    show('PATCH of a module', active)
  })

  it('GET of an environment: 2, its module beside it', async () => {
    const trips = await tripsOf('GET', environment)
    expect(trips).toBe(2)
    show('GET of an environment', trips)
  })
})
