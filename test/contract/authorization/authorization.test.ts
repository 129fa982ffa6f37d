import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { defaultAuthorizer } from '../../../src/domain/authorization/roles.js'
import type { Authorizer, PermissionQuestion } from '../../../src/ports/host.js'
import type { Surface } from '../../../src/ports/surface.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, storedIn, surfaces } from '../../support/hosts/open-host.js'
import {
  goodPassword,
  otherPassword,
  person,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'

/** What a host's authorizer may really answer, whatever its type says. */
function answering(answer: () => unknown): Authorizer & { readonly asked: PermissionQuestion[] } {
  const asked: PermissionQuestion[] = []
  return {
    asked,
    async check(question) {
      asked.push(question)
      return (await answer()) as boolean
    },
  }
}

const rename = (host: ContractHost, surface: Surface, bearer: string, name: string) =>
  host.send('PATCH', `/v1/auth/${surface}/me`, { bearer, body: { name } })

async function storedName(host: ContractHost, surface: Surface, id: string) {
  return (await host.auth[surface].users.get(id))?.name
}

eachHost.describe('the default authorizer', (kind) => {
  eachSurface.it('lets everybody manage their own account', async (surface) => {
    const host = await openHost({}, kind)
    const { bearer, id, password } = await signedInPerson(host, surface)
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    expect((await host.send('GET', at('/me'), { bearer })).json()).toMatchObject({ id })
    expect((await rename(host, surface, bearer, 'Grace')).json()).toMatchObject({ name: 'Grace' })
    const body = { currentPassword: password, newPassword: otherPassword }
    expect((await host.send('POST', at('/me/password'), { bearer, body })).status).toBe(204)
  })
})

it.each([
  ['', 'auth.self', true],
  ['', 'auth.mfa.self', true],
  ['service', 'auth.self', false],
  ['service', 'auth.mfa.self', false],
  ['', 'auth.users.read', false],
  ['', 'system.modules.read', false],
  ['', 'auth.selfish', false],
  ['', 'auth', false],
  ['', '', false],
] as const)(
  'the default authorizer answers one of kind "%s" who wants "%s" with %s',
  async (kind, permission, answer) => {
    for (const systemRole of ['guest', 'administrator', 'super_admin']) {
      for (const surface of surfaces) {
        const who = { surface, userId: 'x', kind, systemRole, memberships: [], tenantId: null }
        const session = { sessionId: null, proofAge: async () => null }
        expect(await defaultAuthorizer.check({ ...who, ...session, permission })).toBe(answer)
      }
    }
  },
)

describe('what the authorizer is asked', () => {
  eachSurface.it('names person, roles and permission', async (surface) => {
    const authorizer = answering(() => true)
    const host = await openHost({ authorizer })
    const memberships = [{ tenantId: 't-1' }, { tenantId: 't-2' }]
    const { id, email } = await host.auth[surface].users.create({
      email: 'ada@example.org',
      password: goodPassword,
      emailVerified: true,
      systemRole: 'auditor',
      memberships,
    })
    const { bearer } = await signIn(host, surface, { id, email, password: goodPassword })
    expect(authorizer.asked).toEqual([])
    await host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    expect(authorizer.asked).toEqual([
      {
        surface,
        userId: id,
        kind: '',
        systemRole: 'auditor',
        memberships,
        tenantId: null,
        permission: 'auth.self',
        sessionId: decodeJwt(bearer)['sid'],
        proofAge: expect.any(Function),
      },
    ])
    // A role changed behind the token's back counts at once; the token still says the old one.
    await host.auth[surface].users.update(id, { systemRole: 'guest', memberships: [] })
    await host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    expect(authorizer.asked[1]).toMatchObject({ systemRole: 'guest', memberships: [] })
  })

  it('asks about every guarded route, and about no public one', async () => {
    const authorizer = answering(() => false)
    const host = await openHost({ authorizer })
    const who = await person(host, 'client')
    const { bearer, cookie, refreshToken } = await signIn(host, 'client', who)
    const { email, password } = who
    const at = (path: string): string => `/v1/auth/client${path}`
    await host.send('GET', at('/session'), { cookie })
    await host.send('POST', at('/refresh'), { body: { refreshToken } })
    await host.send('POST', at('/password/forgot'), { body: { email } })
    await host.send('GET', at('/jwks'))
    expect(authorizer.asked).toEqual([])
    const guarded = [
      await host.send('GET', at('/me'), { bearer }),
      await host.send('PATCH', at('/me'), { bearer, body: { name: 'Eve' } }),
      await host.send('POST', at('/me/password'), {
        bearer,
        body: { currentPassword: password, newPassword: otherPassword },
      }),
    ]
    for (const reply of guarded) expectProblem(reply, 403, 'permission_denied')
    expect(authorizer.asked).toHaveLength(guarded.length)
    expect(await storedName(host, 'client', who.id)).toBe('Ada')
    await signIn(host, 'client', who)
  })

  it('wants the right audience and the permission, both', async () => {
    for (const allows of [false, true]) {
      const host = await openHost({ authorizer: answering(() => allows) })
      const { bearer } = await signedInPerson(host, 'client')
      const own = await host.send('GET', '/v1/auth/client/me', { bearer })
      if (allows) expect(own.status).toBe(200)
      else expectProblem(own, 403, 'permission_denied')
      const foreign = await host.send('GET', '/v1/auth/operator/me', { bearer })
      expectProblem(foreign, 401, 'audience_mismatch')
    }
  })
})

describe('what the authorizer answers', () => {
  const refusals = [
    undefined,
    null,
    false,
    0,
    1,
    '',
    'true',
    'allow',
    {},
    [],
    [true],
    { allow: false },
    { allow: 'yes' },
    { allow: 1 },
    { allow: {} },
    { allowed: true },
    Object(true),
    () => true,
  ].map((answer) => ({ answer, shown: typeof answer === 'function' ? 'a function' : answer }))

  it.each(refusals)('refuses on $shown', async ({ answer }) => {
    const host = await openHost({ authorizer: answering(() => answer) })
    const { bearer, id } = await signedInPerson(host, 'operator')
    expectProblem(await rename(host, 'operator', bearer, 'Eve'), 403, 'permission_denied')
    expect(await storedName(host, 'operator', id)).toBe('Ada')
  })

  it.each([true, { allow: true }, { allow: true, reason: 'x' }].map((answer) => ({ answer })))(
    'allows on $answer, kept or promised',
    async ({ answer }) => {
      const authorizers: Authorizer[] = [
        answering(() => answer),
        { check: () => answer as unknown as Promise<boolean> }, // A JavaScript host may forget `async`.
      ]
      for (const authorizer of authorizers) {
        const host = await openHost({ authorizer })
        const { bearer } = await signedInPerson(host, 'operator')
        const reply = await rename(host, 'operator', bearer, 'Grace')
        expect([reply.status, reply.json()['name']]).toEqual([200, 'Grace'])
      }
    },
  )

  it.each([
    ['rejects', async () => Promise.reject(new Error('no answer from the policy server'))],
    ['rejects with nothing', async () => Promise.reject()],
    [
      'throws before it promises',
      () => {
        throw new Error('no answer from the policy server')
      },
    ],
  ])('an authorizer that %s is 503, and nothing happens', async (_how, check) => {
    const host = await openHost({ authorizer: { check } })
    const { bearer, id } = await signedInPerson(host, 'client')
    const reply = await rename(host, 'client', bearer, 'Eve')
    expectProblem(reply, 503, 'authorization_unavailable')
    expect(reply.text).not.toContain('policy server')
    expect(await storedName(host, 'client', id)).toBe('Ada')
    expect(host.logger.lines.map(({ message }) => message)).toContain('the authorizer failed')
  })

  it('an authorizer that never answers is 503 after two seconds', async () => {
    let began = (): void => {}
    const asking = new Promise<void>((resolve) => {
      began = resolve
    })
    const host = await openHost({
      authorizer: {
        check() {
          began()
          return new Promise<boolean>(() => {})
        },
      },
    })
    const { bearer, id } = await signedInPerson(host, 'client')
    let reply: Reply | null = null
    const pending = rename(host, 'client', bearer, 'Eve').then((given) => {
      reply = given
      return given
    })
    await asking
    await host.clock.advance(1999)
    expect(reply).toBeNull()
    await host.clock.advance(1)
    expectProblem(await pending, 503, 'authorization_unavailable')
    expect(await storedName(host, 'client', id)).toBe('Ada')
  })

  it('an answer that comes too late changes nothing', async () => {
    let began = (): void => {}
    const asking = new Promise<void>((resolve) => {
      began = resolve
    })
    let answer = (_allowed: boolean): void => {}
    const host = await openHost({
      authorizer: {
        check: () =>
          new Promise<boolean>((resolve) => {
            answer = resolve
            began()
          }),
      },
    })
    const { bearer, id } = await signedInPerson(host, 'client')
    const pending = rename(host, 'client', bearer, 'Eve')
    await asking
    await host.clock.advance(2000)
    expectProblem(await pending, 503, 'authorization_unavailable')
    answer(true)
    await host.clock.advance(0)
    expect(await storedName(host, 'client', id)).toBe('Ada')
  })

  it('is asked for anew with every request: a change counts with the same token', async () => {
    let allowed = true
    const authorizer = answering(() => allowed)
    const host = await openHost({ authorizer })
    const { bearer } = await signedInPerson(host, 'operator')
    const statuses: number[] = []
    for (const next of [true, false, false, true, false]) {
      allowed = next
      statuses.push((await host.send('GET', '/v1/auth/operator/me', { bearer })).status)
    }
    expect(statuses).toEqual([200, 403, 403, 200, 403])
    expect(authorizer.asked).toHaveLength(5)
  })
})

eachSurface.describe('a disabled person', (surface) => {
  it('is refused at once, and not let back in by the old token', async () => {
    const host = await openHost()
    const { bearer, id } = await signedInPerson(host, surface)
    const me = () => host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    expect((await me()).status).toBe(200)
    await host.auth[surface].users.update(id, { enabled: false })
    expectProblem(await me(), 401, 'session_revoked')
    await host.auth[surface].users.update(id, { enabled: true })
    expectProblem(await me(), 401, 'session_revoked')
  })

  it('is refused before the authorizer is asked, whoever flipped the switch', async () => {
    const authorizer = answering(() => true)
    const host = await openHost({ authorizer })
    const { bearer, id } = await signedInPerson(host, surface)
    const { users } = storedIn(host, surface)
    await users.update(id, { enabled: true }, { enabled: false })
    const me = () => host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    expectProblem(await me(), 403, 'permission_denied')
    // Nor does a token of a person speak for a machine, or for nobody.
    await users.update(id, { enabled: false }, { enabled: true, kind: 'service' })
    expectProblem(await me(), 403, 'permission_denied')
    await users.take(id)
    expectProblem(await me(), 403, 'permission_denied')
    expect(authorizer.asked).toEqual([])
  })
})
