import { beforeEach, describe, expect, it } from 'vitest'
import type { KeyRing, Principal } from '../../../src/index.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eventsOf, openHost } from '../../support/hosts/open-host.js'
import { smallSigningKey, testSigningKey } from '../../support/keys.js'
import { signedInPerson } from '../../support/people/people.js'
import { spyBackend } from '../../support/stores/spy-backend.js'

const permission = 'orders.refund'

let readKeys: () => Promise<KeyRing>
beforeEach(() => {
  readKeys = async () => ({ current: await testSigningKey() })
})

/** A person whom a guard let in, and the request, of which the rest may be long on its way. */
async function admitted(options: Parameters<typeof openHost>[0] = {}) {
  const may = { authorizer: { check: async () => true } }
  const host = await openHost({ ...may, keys: () => readKeys(), ...options })
  const who = await signedInPerson(host, 'client')
  const authorization = `Bearer ${who.bearer}`
  const header = (name: string) => (name === 'authorization' ? authorization : undefined)
  const request = { header, remoteAddress: undefined }
  const { client } = host.auth
  const { principal } = await client.guards.requireUser()(request, null)
  if (principal === null) throw new Error('not let in')
  return { host, client, who, request, principal, authorization }
}

type Admitted = Awaited<ReturnType<typeof admitted>>

const endings: Readonly<Record<string, (host: ContractHost, who: Admitted['who']) => unknown>> = {
  'a sign-out': async (host, { cookie }) => {
    await host.send('POST', '/v1/auth/client/logout', { cookie })
    await host.clock.advance(1001)
  },
  'a replacement of the signing key': async (host) => {
    readKeys = async () => ({ current: smallSigningKey() })
    await host.auth.keys.reload()
    await host.clock.advance(1001)
  },
  'the end of its token': (host) => host.clock.advance(15 * 60_000),
  // The denylist has forgotten the session by now, and the token has run out.
  'a sign-out of yesterday': async (host, { cookie }) => {
    await host.send('POST', '/v1/auth/client/logout', { cookie })
    await host.clock.advance(25 * 60 * 60_000)
  },
}

describe.each(Object.entries(endings))('after %s', (_name, end) => {
  const guards = {
    requireUser: ({ client }: Admitted) => client.guards.requireUser(),
    optionalUser: ({ client }: Admitted) => client.guards.optionalUser(),
    requireAudience: ({ client }: Admitted) => client.guards.requireAudience(),
    requirePermission: ({ client }: Admitted) => client.guards.requirePermission(permission),
    requireStepUp: ({ client }: Admitted) => client.guards.requireStepUp(),
    'requirePermission in a tenant': ({ client }: Admitted) =>
      client.guards.requirePermission(permission, { tenant: () => 'acme' }),
  }

  it.each(Object.entries(guards))('%s refuses whom a guard let in before', async (_, of) => {
    const given = await admitted()
    await end(given.host, given.who)
    const { refusal } = await of(given)(given.request, given.principal)
    expect(refusal?.status).toBe(401)
    expect(eventsOf(given.host, 'request.refused').filter(({ userId }) => userId !== null)).toEqual(
      [],
    )
  })

  const calls = {
    requirePermission: ({ client }: Admitted, principal: Principal<'client'>) =>
      client.requirePermission(principal, permission),
    requireStepUp: ({ client }: Admitted, principal: Principal<'client'>) =>
      client.requireStepUp(principal, { maxAgeMs: 60_000 }),
  }

  it.each(Object.entries(calls))('%s in code rejects with a 401', async (_, call) => {
    const given = await admitted()
    const principal = await given.client.authenticate(given.authorization)
    await end(given.host, given.who)
    await expect(call(given, principal)).rejects.toMatchObject({ status: 401 })
  })
})

describe('a principal that a guard let in', () => {
  it('is asked for once within a second, and once more after it', async () => {
    const spy = spyBackend()
    const { host, client, request, principal } = await admitted({ backend: spy.backend })
    const asked = () => spy.calls.filter((name) => name === 'denylist.find').length
    const guard = client.guards.requireUser()
    const seen: number[] = []
    for (const ms of [0, 1000, 1, 0, 1000]) {
      await host.clock.advance(ms)
      const before = asked()
      expect((await guard(request, principal)).refusal).toBeNull()
      seen.push(asked() - before)
    }
    expect(seen).toEqual([0, 0, 1, 0, 0])
  })

  it('goes on while the key that signed its token is accepted', async () => {
    const { host, client, request, principal } = await admitted()
    const previous = [await testSigningKey()]
    readKeys = async () => ({ current: smallSigningKey(), previous })
    await host.auth.keys.reload()
    await host.clock.advance(1001)
    expect((await client.guards.requireUser()(request, principal)).refusal).toBeNull()
  })

  it('is neither let in nor signed out where the keys cannot be read again', async () => {
    const { host, client, request, principal } = await admitted()
    readKeys = async () => {
      throw new Error('down')
    }
    await host.clock.advance(3 * 60_000)
    const { refusal } = await client.guards.requireUser()(request, principal)
    expect(refusal?.status).toBe(503)
  })

  it('goes on as soon as the keys can be read again', async () => {
    const { host, client, request, principal } = await admitted()
    const readable = readKeys
    readKeys = async () => {
      throw new Error('down')
    }
    await host.clock.advance(3 * 60_000)
    readKeys = readable
    expect((await client.guards.requireUser()(request, principal)).refusal).toBeNull()
  })

  it('is neither let in nor signed out where the denylist cannot be asked again', async () => {
    const spy = spyBackend()
    const { host, client, request, principal } = await admitted({ backend: spy.backend })
    await host.clock.advance(1001)
    spy.fail(() => new Error('down'))
    const { refusal } = await client.guards.requireUser()(request, principal)
    spy.fail(null)
    expect(refusal?.status).toBe(503)
  })
})
