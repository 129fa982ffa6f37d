import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { NewUser, UserChanges, UserPageRequest } from '../../../src/index.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn, storedUser } from '../../support/hosts/open-host.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { goodPassword, person, signedInPerson } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const email = 'ada@example.org'
const unknownId = '01940000-0000-7000-8000-000000000000'

eachSurface.describe('auth.{surface}.users', (surface) => {
  it('creates a person from an address alone', async () => {
    const { auth, clock, mailer, backend } = await testAuth()
    const user = await auth[surface].users.create({ email: ' Ada@Example.ORG ' })
    expect(user).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: '',
      email,
      emailVerified: false,
      name: '',
      systemRole: 'guest',
      enabled: true,
      hasPassword: false,
      memberships: [],
      membershipsRevision: 0,
      createdAt: clock.now(),
      updatedAt: clock.now(),
      lastLoginAt: null,
    })
    expect(await storedUser({ backend }, surface, email)).toMatchObject({
      emailAsTyped: 'Ada@Example.ORG',
      passwordHash: null,
    })
    await auth.close()
    expect(mailer.sent).toEqual([])
  })

  it('adds and removes memberships at once, and loses none', async () => {
    const events: string[] = []
    const { auth } = await testAuth({ onEvent: ({ type }) => void events.push(type) })
    const { users } = auth[surface]
    const { id } = await users.create({ email, memberships: [{ tenantId: 'a' }] })
    await Promise.all([
      users.memberships.add(id, { tenantId: 'b' }),
      users.memberships.add(id, { tenantId: 'c' }),
      users.memberships.remove(id, 'a'),
    ])
    const after = await users.get(id)
    expect(after?.memberships.map(({ tenantId }) => tenantId).sort()).toEqual(['b', 'c'])
    expect(after?.membershipsRevision).toBe(3)
    events.length = 0
    expect(await users.memberships.add(id, { tenantId: 'b' })).toEqual(after)
    expect(await users.memberships.remove(id, 'a')).toEqual(after)
    expect(events).toEqual([])
    expect(await users.memberships.remove(unknownId, 'a')).toBeNull()
    for (const odd of ['', 'x'.repeat(65), JSON.parse('1')]) {
      const refusal = { code: 'invalid_request' }
      await expect(users.memberships.add(id, { tenantId: odd })).rejects.toMatchObject(refusal)
      await expect(users.memberships.remove(id, odd)).rejects.toMatchObject(refusal)
    }
  })

  it('writes no list of memberships that was made from an older one', async () => {
    const { auth } = await testAuth()
    const { users } = auth[surface]
    const { id, ...made } = await users.create({ email, memberships: [{ tenantId: 'a' }] })
    const { membershipsRevision } = made
    await users.memberships.remove(id, 'a')
    const memberships = [...made.memberships, { tenantId: 'd' }]
    await expect(users.update(id, { memberships, membershipsRevision })).rejects.toMatchObject({
      code: 'memberships_changed',
    })
    expect(await users.get(id)).toMatchObject({ memberships: [], membershipsRevision: 1 })
    const now = { memberships: [{ tenantId: 'd' }], membershipsRevision: 1 }
    expect(await users.update(id, now)).toMatchObject({ ...now, membershipsRevision: 2 })
  })

  it('creates a person from everything there is to say', async () => {
    const { auth } = await testAuth()
    const given = {
      email,
      name: 'Ada',
      password: goodPassword,
      emailVerified: true,
      systemRole: 'admin',
      memberships: [{ tenantId: 'acme' }],
    }
    const user = await auth[surface].users.create(given)
    const { password: _, ...shown } = given
    expect(user).toMatchObject({ ...shown, hasPassword: true, kind: '' })
    expect(JSON.stringify(user)).not.toMatch(/argon2|correct horse/)
  })

  it('keeps the surfaces apart', async () => {
    const { auth } = await testAuth()
    const other = surface === 'operator' ? 'client' : 'operator'
    const { id } = await auth[surface].users.create({ email })
    expect(await auth[other].users.get(id)).toBeNull()
    expect(await auth[other].users.findByEmail(email)).toBeNull()
    expect(await auth[other].users.update(id, { name: 'x' })).toBeNull()
    expect((await auth[other].users.create({ email })).id).not.toBe(id)
  })

  it('makes one account of all spellings, also in parallel', async () => {
    const { auth } = await testAuth()
    const { users } = auth[surface]
    const made = await Promise.allSettled(
      [email, 'ADA@example.org', ' ada@EXAMPLE.org '].map((one) => users.create({ email: one })),
    )
    const refusals = made.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(refusals).toEqual(['email_taken', 'email_taken'])
    expect(await users.findByEmail('ADA@EXAMPLE.ORG')).toEqual(await users.findByEmail(email))
  })

  it.each([
    ['nobody', 'invalid_request'],
    ['', 'invalid_request'],
    ['ada@localhost', 'invalid_request'],
    ['robot@machines.invalid', 'email_not_allowed'],
  ])('refuses %j as an address: %s', async (address, code) => {
    const { auth } = await testAuth()
    await expect(auth[surface].users.create({ email: address })).rejects.toMatchObject({ code })
  })

  it('makes nobody a machine, whatever a cast lets through', async () => {
    const { auth } = await testAuth()
    const { users } = auth[surface]
    // @ts-expect-error the type of a new user has no `kind`
    const typed: NewUser = { email, kind: 'service' }
    const smuggled = [
      typed,
      { email, kind: '' },
      JSON.parse(`{"email":"${email}","__proto__":{"kind":"service"}}`),
      { email, enabled: false },
      { email, sessionEpoch: 9 },
      { email, id: 'x' },
    ]
    for (const given of smuggled) {
      await expect(users.create(given)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(/^A user's members are email, .+ and no others\.$/),
      })
    }
    expect(await users.findByEmail(email)).toBeNull()
  })

  it('bounds `systemRole`', async () => {
    const { auth } = await testAuth()
    const { users } = auth[surface]
    const made = await users.create({ email, systemRole: 'x'.repeat(100) })
    for (const systemRole of ['x'.repeat(101), 'a\0b']) {
      const refusal = {
        code: 'invalid_request',
        message: expect.stringMatching(/systemRole must be a text of 1 to 100 characters/),
      }
      await expect(users.create({ email: 'b@example.org', systemRole })).rejects.toMatchObject(
        refusal,
      )
      await expect(users.update(made.id, { systemRole })).rejects.toMatchObject(refusal)
    }
    expect(await users.get(made.id)).toMatchObject({ systemRole: made.systemRole })
  })

  it('takes where an act came from as events and sessions have it, null included', async () => {
    const { auth, events } = await testAuth()
    const { users } = auth[surface]
    const by = { actorId: null, ip: null, userAgent: null }
    const { id } = await users.create({ email }, by)
    await users.update(id, { name: 'Grace' }, { ip: '192.0.2.7', userAgent: undefined })
    await auth.close()
    expect(events.map(({ ip }) => ip)).toEqual([null, '192.0.2.7'])
  })

  it('finds by id and by any spelling, and answers null for nobody', async () => {
    const { auth } = await testAuth()
    const { users } = auth[surface]
    const made = await users.create({ email })
    expect(await users.get(made.id)).toEqual(made)
    expect(await users.findByEmail(' ADA@example.org')).toEqual(made)
    expect(await users.get('01940000-0000-7000-8000-000000000000')).toBeNull()
    expect(await users.findByEmail('bob@example.org')).toBeNull()
    expect(await users.findByEmail('no address')).toBeNull()
    expect(await users.update(unknownId, { name: 'x' })).toBeNull()
  })

  it('knows nobody of an id or address that no store can hold, and takes only texts', async () => {
    const { auth, logger } = await testAuth()
    const { users } = auth[surface]
    for (const odd of ['', 'a\0b', '\ud800', '*', 'x'.repeat(5000)]) {
      expect([await users.get(odd), await users.findByEmail(odd)]).toEqual([null, null])
      expect(await users.update(odd, { name: 'Eve' })).toBeNull()
    }
    for (const odd of [undefined, null, 7, {}, { $ne: '' }, ['a']] as unknown as readonly never[]) {
      for (const call of [users.get(odd), users.findByEmail(odd), users.update(odd, {})]) {
        await expect(call).rejects.toMatchObject({
          code: 'invalid_request',
          message: expect.stringMatching(/must be a text/),
        })
      }
    }
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('lists people page by page, in the order they were made, and machines apart', async () => {
    const { auth, backend, clock } = await testAuth()
    const { users } = auth[surface]
    const made: string[] = []
    for (let index = 0; index < 5; index += 1) {
      made.push((await users.create({ email: `p${index}@example.org` })).id)
      await clock.advance(1)
    }
    const machine = { ...(await storedUser({ backend }, surface, 'p0@example.org')) }
    const id = '01940000-0000-7000-8000-000000000001'
    const service = { ...machine, id, email: 'm@example.org', kind: 'service' }
    await storedIn({ backend }, surface).users.insert(service)
    const pages: string[][] = []
    let after: string | null = null
    do {
      const page = await users.list({ limit: 2, ...(after === null ? {} : { after }) })
      pages.push(page.users.map((user) => user.id))
      after = page.next
    } while (after !== null)
    expect(pages).toEqual([made.slice(0, 2), made.slice(2, 4), made.slice(4)])
    const all = await users.list()
    expect([all.users.length, all.next]).toEqual([5, null])
    expect(all.users[0]).toEqual(await users.get(made[0] ?? ''))
    const machines = await users.list({ kind: 'service' })
    expect(machines.users.map((user) => [user.id, user.kind])).toEqual([[id, 'service']])
    const other = surface === 'operator' ? 'client' : 'operator'
    expect(await auth[other].users.list()).toEqual({ users: [], next: null })
  })

  it.each([
    ['a limit of nothing', { limit: 0 }, 'limit'],
    ['a limit too large', { limit: 201 }, 'limit'],
    ['half a limit', { limit: 1.5 }, 'limit'],
    ['an end that is no text', { after: 5 }, 'after'],
    ['an end that cannot be stored', { after: '\0' }, 'after'],
    ['a kind that is none', { kind: 'robot' }, 'kind'],
    ['a second word for a person', { kind: 'human' }, 'kind'],
    ['a member that is none', { cursor: 'x' }, 'members'],
  ])('refuses to list by %s', async (_, request, named) => {
    const { auth } = await testAuth()
    const cast: UserPageRequest = JSON.parse(JSON.stringify(request))
    await expect(auth[surface].users.list(cast)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`A page's ${named} `),
    })
  })

  it('updates what it is given and nothing else', async () => {
    const { auth, clock } = await testAuth()
    const { users } = auth[surface]
    const made = await users.create({ email, name: 'Ada' })
    await clock.advance(1000)
    const systemRole = await users.update(made.id, { systemRole: 'admin' })
    expect(systemRole).toEqual({ ...made, systemRole: 'admin', updatedAt: clock.now() })
    const rest = { name: 'Ada L.', memberships: [{ tenantId: 'acme' }], enabled: false }
    const all = await users.update(made.id, rest)
    expect(all).toEqual({
      ...made,
      systemRole: 'admin',
      ...rest,
      membershipsRevision: 1,
      updatedAt: clock.now(),
    })
    expect(await users.get(made.id)).toEqual(all)
  })

  it('has no way to change what somebody is, in either direction', async () => {
    const { auth, backend } = await testAuth()
    const { users } = auth[surface]
    const { id } = await users.create({ email })
    const before = await storedUser({ backend }, surface, email)
    // @ts-expect-error the type of an update has no `kind`
    const typed: UserChanges = { kind: 'service' }
    const smuggled = [
      typed,
      { name: 'x', kind: 'service' },
      { name: 'x', kind: '' },
      JSON.parse('{"name":"x","__proto__":{"kind":"service"}}'),
      { email: 'root@example.org' },
      { passwordHash: 'x' },
      { sessionEpoch: 0 },
      { id: 'x' },
    ]
    for (const changes of smuggled) {
      await expect(users.update(id, changes)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(/^A user's changes are name, .+ and no others\.$/),
      })
    }
    expect(await storedUser({ backend }, surface, email)).toEqual(before)
  })

  const unfit = [
    ['a name that is no text', { name: 5 }, 'name'],
    ['a role with a lone surrogate', { systemRole: '\ud800' }, 'systemRole'],
    ['a role that is no text', { systemRole: ['admin'] }, 'systemRole'],
    ['memberships that are no list', { memberships: { tenantId: 'acme' } }, 'memberships'],
    ['a membership of nothing', { memberships: [null] }, 'memberships'],
    ['a membership without a tenant', { memberships: [{}] }, 'memberships'],
    ['a tenant that is no text', { memberships: [{ tenantId: 5 }] }, 'memberships'],
  ] as const

  it.each([...unfit, ['a yes that is none', { enabled: 'false' }, 'enabled'] as const])(
    'refuses to update to %s, and names it',
    async (_, changes, named) => {
      const { auth } = await testAuth()
      const { users } = auth[surface]
      const made = await users.create({ email })
      const cast: UserChanges = JSON.parse(JSON.stringify(changes))
      await expect(users.update(made.id, cast)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining(`A user's ${named} must be `),
      })
      expect(await users.get(made.id)).toEqual(made)
    },
  )

  it.each([
    ...unfit,
    ['a yes that is none', { emailVerified: 'false' }, 'emailVerified'] as const,
    ['an address that is no text', { email: 5 }, 'email'] as const,
    ['an address that is null', { email: null }, 'email'] as const,
    ['a password that is no text', { password: 123_456_789_012_345 }, 'password'] as const,
  ])('refuses to create with %s, and names it', async (_, given, named) => {
    const { auth } = await testAuth()
    const { users } = auth[surface]
    const cast: NewUser = JSON.parse(JSON.stringify({ email, ...given }))
    await expect(users.create(cast)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`A user's ${named} must be `),
    })
    expect(await users.list()).toEqual({ users: [], next: null })
  })

  it('ends the sessions of who is disabled, and repeats what a failure interrupted', async () => {
    const faulty = faultyBackend(memory())
    const host = await openHost({ backend: faulty.backend })
    const who = await signedInPerson(host, surface)
    const bystander = await signedInPerson(host, surface)
    const { users } = host.auth[surface]
    faulty.failNext('denylist.put', 'before')
    const failing = users.update(who.id, { enabled: false })
    await expect(failing).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await users.update(who.id, { enabled: false })).toMatchObject({ enabled: false })
    const me = (bearer: string) => host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    expect(outcomeOf(await me(who.bearer))).toBe('401 session_revoked')
    expect(outcomeOf(await me(bystander.bearer))).toBe('200')
  })

  it('lets no session survive, should the account be enabled again midway', async () => {
    const faulty = faultyBackend(memory())
    const host = await openHost({ backend: faulty.backend })
    const who = await signedInPerson(host, surface)
    const { users } = host.auth[surface]
    faulty.failNext('denylist.put', 'before')
    await expect(users.update(who.id, { enabled: false })).rejects.toThrow()
    expect(await users.update(who.id, { enabled: true })).toMatchObject({ enabled: true })
    const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, {
      cookie: who.cookie,
    })
    expect(outcomeOf(refreshed)).toBe('401 session_revoked')
  })

  it('leaves no session to a login that raced the disabling', async () => {
    const faulty = faultyBackend(memory())
    const host = await openHost({ backend: faulty.backend })
    const { id, email: address, password } = await person(host, surface)
    faulty.onCall(`${surface}_refresh_tokens.insert`, async () => {
      await host.auth[surface].users.update(id, { enabled: false })
    })
    const login = await host.send('POST', `/v1/auth/${surface}/login`, {
      body: { email: address, password },
    })
    expect([outcomeOf(login), login.setCookies]).toEqual(['401 invalid_credentials', []])
  })

  it('keeps both of two updates that race', async () => {
    const { auth } = await testAuth()
    const { users } = auth[surface]
    const { id } = await users.create({ email })
    await Promise.all([
      users.update(id, { name: 'Ada' }),
      users.update(id, { systemRole: 'admin' }),
      users.update(id, { enabled: false }),
    ])
    const after = await users.get(id)
    expect(after).toMatchObject({ name: 'Ada', systemRole: 'admin', enabled: false })
  })

  it('says so when the store is down: a failure is never "nobody"', async () => {
    const faulty = faultyBackend(memory())
    const { auth } = await testAuth({ backend: faulty.backend })
    const { users } = auth[surface]
    const { id } = await users.create({ email })
    for (const call of ['get', 'find', 'insert', 'update', 'take']) {
      faulty.failNext(`${surface}_users.${call}`, 'before', Number.POSITIVE_INFINITY)
    }
    const down = { code: 'service_unavailable' }
    await expect(users.get(id)).rejects.toMatchObject(down)
    await expect(users.findByEmail(email)).rejects.toMatchObject(down)
    await expect(users.list()).rejects.toMatchObject(down)
    await expect(users.delete(id)).rejects.toMatchObject(down)
    await expect(users.update(id, { name: 'x' })).rejects.toMatchObject(down)
    await expect(users.create({ email: 'bob@example.org' })).rejects.toMatchObject(down)
  })
})
