import { randomUUID, scryptSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { readImportRow } from '../../../src/domain/accounts/user-import.js'
import type { ImportBatch, ImportReport, ImportResult } from '../../../src/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachHost, eachStore, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, person } from '../../support/people/people.js'
import { registeredPerson } from '../../support/people/registration-steps.js'
import { type FaultyBackend, faultyBackend, withCall } from '../../support/stores/faulty-backend.js'
import { afterwards, sweepOnce } from './deletions.js'

const scryptHash = `scrypt:16:8:1$seasalt$${scryptSync(goodPassword, 'seasalt', 32, { N: 16, r: 8, p: 1 }).toString('hex')}`
const bcryptHash = '$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'
const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const argon2Of = (m: number, t: number) =>
  `$argon2id$v=19$m=${m},t=${t},p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAA`
const legacyHashes = {
  bcrypt: async (password: string, hash: string) =>
    password === goodPassword && hash === bcryptHash.replace('$2y$', '$2b$'),
  scrypt: true,
}
const options = { legacyHashes }

const google = (subject: string) =>
  ({ provider: 'google', issuer: 'https://accounts.google.com', subject }) as const
const github = (subject: string) =>
  ({ provider: 'github', issuer: 'https://github.com/login/oauth', subject }) as const

const codesOf = ({ results }: ImportReport): readonly string[] =>
  results.map((one) => ('code' in one ? `${one.outcome} ${one.code}` : one.outcome))

function idOf(result: ImportResult | undefined): string {
  if (result === undefined || !('id' in result)) throw new Error('no account')
  return result.id
}

/** Rows and batches that a cast let through. */
function importOf(host: ContractHost, batch: object, surface: 'operator' | 'client' = 'client') {
  const report: Promise<ImportReport> = Reflect.apply(host.auth[surface].users.import, null, [
    batch,
  ])
  return report
}

const login = (host: ContractHost, email: string, password = goodPassword) =>
  host.send('POST', '/v1/auth/client/login', { body: { email, password } })

/** Everything that is kept of users, to see that nothing changed. */
async function pictureOf(host: ContractHost) {
  const { users, oauthIdentities, totpFactors } = storedIn(host, 'client')
  const people = await users.find({ kind: '' }, { limit: 100 })
  const of = people.map(async ({ id: userId }) => [
    await oauthIdentities.find({ userId }, { limit: 9 }),
    await totpFactors.get(userId),
  ])
  return [people, await Promise.all(of)]
}

eachHost.describe('an import of users', (kind) => {
  eachSurface.it('keeps hashes, dates, flags and identities', async (surface) => {
    const host = await openHost(options, kind)
    const day = 24 * 60 * 60_000
    const now = host.clock.now()
    const id = randomUUID()
    const report = await host.auth[surface].users.import({
      users: [
        {
          ...{ id, email: ' Ada@Example.org ', name: 'Ada', passwordHash: bcryptHash },
          ...{ createdAt: now - 9 * day, emailVerifiedAt: new Date(now - 8 * day) },
          ...{ lastLoginAt: now - day, systemRole: 'editor', memberships: [{ tenantId: 't1' }] },
          identities: [google('1815'), github('1843')],
          totpSecret,
        },
        { email: 'grace@example.org', passwordHash: scryptHash, emailVerified: true },
        { email: 'off@example.org', passwordHash: null, enabled: false },
      ],
      allowRoles: ['editor'],
    })
    expect(codesOf(report)).toEqual(['created', 'created', 'created'])
    expect(report).toMatchObject({ created: 3, skipped: 0, conflicts: 0, refused: 0 })
    const { users, totpFactors } = storedIn(host, surface)
    expect(await users.get(id)).toMatchObject({
      ...{ kind: '', email: 'ada@example.org', emailAsTyped: 'Ada@Example.org', name: 'Ada' },
      ...{ passwordHash: bcryptHash, createdAt: now - 9 * day, emailVerifiedAt: now - 8 * day },
      ...{ lastLoginAt: now - day, systemRole: 'editor', memberships: [{ tenantId: 't1' }] },
      ...{ enabled: true, selfRegistered: false, importState: null, deletingAt: null },
    })
    const identities = await host.auth[surface].identities.list(id)
    expect(identities.map(({ subject }) => subject).sort()).toEqual(['1815', '1843'])
    const factor = await totpFactors.get(id)
    expect(factor).toMatchObject({ confirmed: true, userId: id })
    expect(JSON.stringify(factor)).not.toContain(totpSecret)
    const [, grace, off] = report.results
    expect(await users.get(idOf(grace))).toMatchObject({ emailVerifiedAt: now, createdAt: now })
    expect(await users.get(idOf(off))).toMatchObject({ enabled: false, emailVerifiedAt: null })

    // Checked at the login and replaced; what has a second factor is asked for it.
    const enter = (email: string, password: string) =>
      host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } })
    expect(outcomeOf(await enter('grace@example.org', otherPassword))).toBe(
      '401 invalid_credentials',
    )
    expect(outcomeOf(await enter('grace@example.org', goodPassword))).toBe('200')
    expect((await users.get(idOf(grace)))?.passwordHash).toMatch(/^\$argon2id\$/)
    expect((await enter('ada@example.org', goodPassword)).json()['status']).toBe('mfaRequired')

    // No mail, and one event and record for all of it.
    await host.auth.close()
    expect(host.mailer.sent.filter(({ template }) => template !== 'newDevice')).toEqual([])
    expect(eventsOf(host, 'account.created')).toEqual([])
    expect(eventsOf(host, 'account.imported')).toMatchObject([{ surface, created: 3 }])
  })

  it('repeated, changes nothing and skips what is there; two at once create each account once', async () => {
    const host = await openHost(options, kind)
    const users = Array.from({ length: 12 }, (_, at) => ({
      email: `user${at}@example.org`,
      passwordHash: bcryptHash,
      emailVerified: true,
      ...(at % 3 === 0 ? { id: randomUUID() } : {}),
      ...(at % 2 === 0 ? { identities: [google(`s${at}`)], totpSecret } : {}),
    }))
    const reports = await Promise.all([1, 2, 3].map(() => host.auth.client.users.import({ users })))
    for (const [at] of users.entries()) {
      const outcomes = reports.map(({ results }) => results[at]?.outcome)
      expect([at, outcomes.sort()]).toEqual([at, ['created', 'skipped', 'skipped']])
      expect(new Set(reports.map(({ results }) => idOf(results[at]))).size).toBe(1)
    }
    const before = await pictureOf(host)
    const again = await host.auth.client.users.import({
      users: users.map((user) => ({ ...user, name: 'Other', passwordHash: scryptHash })),
    })
    expect(again).toMatchObject({ created: 0, skipped: 12, conflicts: 0, refused: 0 })
    expect(await pictureOf(host)).toEqual(before)
    const page = await host.auth.client.users.list({ limit: 200 })
    expect(page.users).toHaveLength(12)
    expect(page.users.every(({ enabled }) => enabled)).toBe(true)
  })

  it('in a dry run, says of every row what an import then does, and writes nothing', async () => {
    const host = await openHost(options, kind)
    await registeredPerson(host, 'client', { email: 'grace@example.org' })
    const known = [
      {
        ...{ id: randomUUID(), email: 'ada@example.org', emailVerified: true },
        identities: [google('1')],
      },
    ]
    await host.auth.client.users.import({ users: known })
    const { id } = await person(host, 'client')
    await host.auth.client.users.delete(id)
    const users = [
      ...known,
      { email: 'new@example.org', passwordHash: bcryptHash },
      { email: 'eve@example.org', emailVerified: true, identities: [github('2')], totpSecret },
      { email: 'eve@example.org' },
      { email: 'grace@example.org' },
      { email: 'mallory@example.org', emailVerified: true, identities: [google('1')] },
      { email: 'again@example.org', id },
      { email: 'md5@example.org', passwordHash: '5f4dcc3b5aa765d61d8327deb882cf99' },
    ]
    const before = [await pictureOf(host), host.events.length]
    const dry = await host.auth.client.users.import({ users, dryRun: true })
    expect([await pictureOf(host), host.events.length]).toEqual(before)
    const real = await host.auth.client.users.import({ users })
    expect(dry).toMatchObject({ created: 2, skipped: 1, conflicts: 3, refused: 2 })
    expect(codesOf(dry)).toEqual(
      codesOf(real).map((code) => (code === 'created' ? 'creatable' : code)),
    )
    expect({ ...dry, results: [] }).toEqual({ ...real, results: [] })
  })

  it('takes no address, id or identity of another account, and changes none', async () => {
    const host = await openHost(options, kind)
    const registered = { email: 'grace@example.org' }
    await registeredPerson(host, 'client', registered)
    const made = await host.auth.client.users.import({
      users: [{ email: 'ada@example.org', emailVerified: true, identities: [google('1815')] }],
    })
    const id = idOf(made.results[0])
    const before = await pictureOf(host)
    const report = await host.auth.client.users.import({
      users: [
        // Registered by the form, perhaps by a stranger.
        { email: registered.email.toUpperCase(), passwordHash: bcryptHash },
        { email: 'ADA@EXAMPLE.org', id: randomUUID() },
        { email: 'eve@example.org', emailVerified: true, identities: [google('1815')] },
        {
          ...{ email: 'mallory@example.org', emailVerified: true, totpSecret },
          identities: [github('1'), google('1815')],
        },
        { email: 'ada@example.org', createdAt: Date.UTC(2020, 0) },
      ],
    })
    expect(codesOf(report)).toEqual([
      'conflict email_taken',
      'conflict email_taken',
      'conflict identity_taken',
      'conflict duplicate_row',
      'conflict duplicate_row',
    ])
    const later = await host.auth.client.users.import({
      users: [
        { email: 'ada@example.org', createdAt: Date.UTC(2020, 0) },
        {
          ...{ email: 'mallory@example.org', emailVerified: true, totpSecret },
          identities: [github('1'), google('1815')],
        },
      ],
    })
    expect(codesOf(later)).toEqual(['conflict email_taken', 'conflict identity_taken'])
    expect(await pictureOf(host)).toEqual(before)
    expect(await host.auth.client.identities.list(id)).toHaveLength(1)
    expect(await host.auth.client.users.findByEmail('mallory@example.org')).toBeNull()
  })

  it('never uses the id of a deleted account again, also long after', async () => {
    const host = await openHost(options, kind)
    const { id } = await person(host, 'client')
    await host.auth.client.users.delete(id)
    const row = { id, email: 'new@example.org', emailVerified: true }
    const attempt = async (more: object = {}) =>
      codesOf(await host.auth.client.users.import({ users: [{ ...row, ...more }] }))
    expect(await attempt()).toEqual(['refused id_deleted'])
    await host.clock.advance(afterwards)
    await sweepOnce(host, 'client')
    expect(await attempt({ identities: [google('1')] })).toEqual(['refused id_deleted'])
    expect(await host.auth.client.users.get(id)).toBeNull()
    expect(await host.auth.client.users.findByEmail(row.email)).toBeNull()
  })

  it('of 1,000 rows, one that is bad holds up no other', async () => {
    const host = await openHost(options, kind)
    const users = Array.from({ length: 1000 }, (_, at) => ({
      email: at === 500 ? 'no address' : `user${at}@example.org`,
      passwordHash: bcryptHash,
      emailVerified: true,
    }))
    const report = await host.auth.client.users.import({ users })
    expect(report).toMatchObject({ created: 999, refused: 1, skipped: 0, conflicts: 0 })
    expect(report.results[500]).toMatchObject({ outcome: 'refused', code: 'invalid_row' })
    expect(eventsOf(host, 'account.imported')).toHaveLength(1)
    expect(outcomeOf(await login(host, 'user999@example.org'))).toBe('200')
  })
})

describe('rows that are refused', () => {
  const email = 'eve@example.org'
  const bad: readonly (readonly [string, unknown, string])[] = [
    ['no object', null, 'invalid_row'],
    ['a list', [], 'invalid_row'],
    ['a text', email, 'invalid_row'],
    ['a kind', { email, kind: 'service' }, 'kind_not_allowed'],
    ['an empty kind', { email, kind: '' }, 'kind_not_allowed'],
    ['a kind that is not there', { email, kind: undefined }, 'kind_not_allowed'],
    [
      'a prototype',
      JSON.parse(`{ "email": "${email}", "__proto__": { "kind": "service" } }`),
      'invalid_row',
    ],
    ['a constructor', { email, constructor: { prototype: {} } }, 'invalid_row'],
    ['an unknown member', { email, isAdmin: true }, 'invalid_row'],
    ['a counter', { email, sessionEpoch: 7 }, 'invalid_row'],
    ['no address', {}, 'invalid_row'],
    ['an address of the prototype', Object.create({ email }), 'invalid_row'],
    ['an address that looks alike', { email: 'аda@example.org' }, 'invalid_row'],
    ['an address with the Kelvin sign', { email: '\u212A@example.org' }, 'invalid_row'],
    ['an address as query', { email: { $ne: null } }, 'invalid_row'],
    ['an address without mail', { email: 'x@service-accounts.invalid' }, 'email_not_allowed'],
    ['an id of another form', { email, id: 'auth0|5' }, 'invalid_row'],
    ['an id in capitals', { email, id: randomUUID().toUpperCase() }, 'invalid_row'],
    ['a flag as text', { email, emailVerified: 'true' }, 'invalid_row'],
    ['a date as text', { email, createdAt: '2020-01-01' }, 'invalid_row'],
    ['a date that is none', { email, createdAt: new Date('x') }, 'invalid_row'],
    ['a date with fractions', { email, createdAt: 1_600_000_000_000.5 }, 'invalid_row'],
    ['a date to come', { email, lastLoginAt: Date.UTC(2030, 0) }, 'invalid_row'],
    ['a date before 1970', { email, createdAt: -1 }, 'invalid_row'],
    [
      'flag and date at odds',
      { email, emailVerified: false, emailVerifiedAt: Date.UTC(2020, 0) },
      'invalid_row',
    ],
    ['an identity, unverified', { email, identities: [google('1')] }, 'email_not_verified'],
    ['a factor, unverified', { email, totpSecret }, 'email_not_verified'],
    [
      'another provider',
      { email, emailVerified: true, identities: [{ ...google('1'), provider: '__proto__' }] },
      'invalid_row',
    ],
    [
      'two of a provider',
      { email, emailVerified: true, identities: [google('1'), google('2')] },
      'invalid_row',
    ],
    [
      'an identity with more',
      { email, emailVerified: true, identities: [{ ...google('1'), userId: 'x' }] },
      'invalid_row',
    ],
    [
      'a short secret',
      { email, emailVerified: true, totpSecret: 'JBSWY3DPEHPK3PXP' },
      'invalid_row',
    ],
    ['a role', { email, systemRole: 'administrator' }, 'role_not_allowed'],
    ['a role in other letters', { email, systemRole: 'Editor' }, 'role_not_allowed'],
    ['a role with spaces', { email, systemRole: ' editor' }, 'invalid_row'],
    ['a plain password', { email, passwordHash: goodPassword }, 'hash_not_supported'],
    [
      'a format that is off',
      { email, passwordHash: `pbkdf2:sha256:1000$salt$${'00'.repeat(32)}` },
      'hash_not_supported',
    ],
    ['argon2 of 4 GiB', { email, passwordHash: argon2Of(4_194_304, 1) }, 'hash_not_supported'],
    ['argon2 of a minute', { email, passwordHash: argon2Of(1_048_576, 64) }, 'hash_too_costly'],
    [
      'scrypt of 128 GiB',
      { email, passwordHash: `scrypt:134217728:8:1$salt$${'00'.repeat(32)}` },
      'hash_too_costly',
    ],
    [
      'bcrypt of cost 31',
      { email, passwordHash: bcryptHash.replace('$10$', '$31$') },
      'hash_too_costly',
    ],
    ['a hash as object', { email, passwordHash: { toString: () => bcryptHash } }, 'invalid_row'],
  ]

  it('say why, repeat no value, make nothing, and hold up no other', async () => {
    const host = await openHost(options)
    const batch = {
      users: [...bad.map(([, row]) => row), { email: 'last@example.org' }],
      allowRoles: ['editor'],
    }
    const report = await importOf(host, batch)
    const seen = codesOf(report)
    // The same address comes again and again: only what is of the right form counts as a repetition.
    for (const [at, [what, , code]] of bad.entries()) {
      expect([what, seen[at]].join(': ')).toMatch(
        new RegExp(`: (refused ${code}|conflict duplicate_row)$`),
      )
      const alone = await importOf(host, { ...batch, users: [bad[at]?.[1]] })
      expect([what, ...codesOf(alone)]).toEqual([what, `refused ${code}`])
      const [result] = alone.results
      const reason = result && 'reason' in result ? result.reason : ''
      expect(reason).toMatch(/^[A-Z][^\n]{10,120}\.$|^[a-z][A-Za-z]+ must [^\n]{5,120}\.$/)
      expect(reason).not.toMatch(/eve@|\$argon2|2y\$|JBSW/)
    }
    expect(seen.at(-1)).toBe('created')
    const { users } = await host.auth.client.users.list({ limit: 200 })
    expect(users.map((user) => user.email)).toEqual(['last@example.org'])
    expect(await storedIn(host, 'client').users.find({ kind: 'service' }, { limit: 9 })).toEqual([])
  })

  it('are told from rows that are good, whatever they hold, and nothing throws', async () => {
    const names = ['id', 'email', 'name', 'kind', 'identities', 'createdAt', '__proto__'].concat(
      ...['totpSecret', 'memberships'],
    )
    const row = fc.oneof(
      fc.anything(),
      fc.dictionary(
        fc.constantFrom(...names),
        fc.anything({ withDate: true, withNullPrototype: true }),
      ),
    )
    await fc.assert(
      fc.asyncProperty(row, async (given) => {
        const read = await readImportRow(given, 1000, [])
        if ('outcome' in read) return read.outcome === 'refused'
        return read.systemRole === 'guest' && !('kind' in read)
      }),
      { numRuns: 2000 },
    )
  })

  it.each<[string, object]>([
    ['no rows', {}],
    ['rows that are none', { users: { length: 1 } }],
    ['too many', { users: Array.from({ length: 10_001 }, () => ({})) }],
    ['roles as text', { users: [], allowRoles: 'editor' }],
    ['rows seen as a list', { users: [], seen: [] }],
    ['another member', { users: [], overwrite: true }],
  ])('a batch is refused as a whole: %s', async (_, batch) => {
    const host = await openHost(options)
    await expect(importOf(host, batch)).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('an import that is cut off', () => {
  const calls = [
    'client_users.insert',
    'client_users.update',
    'client_oauth_identities.insert',
    'client_totp_factors.insert',
  ] as const
  const row = {
    ...{ email: 'ada@example.org', passwordHash: bcryptHash, emailVerified: true, totpSecret },
    identities: [google('1815'), github('1843')],
  }
  const cases = calls.flatMap((call) =>
    (['before', 'after'] as const).flatMap((mode) =>
      [undefined, randomUUID()].map(
        (id) => [call, mode, id === undefined ? 'no id' : 'an id', id] as const,
      ),
    ),
  )

  it.each(cases)(
    'at %s, %s the write, with %s, leaves no account that works, and is completed',
    async (call, mode, _, id) => {
      const faulty = faultyBackend(memory())
      const host = await openHost({ ...options, backend: faulty.backend })
      const seen = new Set<string>()
      const batch: ImportBatch = { users: [id === undefined ? row : { ...row, id }], seen }
      faulty.failNext(call, mode)
      await expect(host.auth.client.users.import(batch)).rejects.toMatchObject({
        code: 'service_unavailable',
      })
      const [left] = await storedIn(host, 'client').users.find({ email: row.email }, { limit: 1 })
      const isWhole = call === 'client_users.update' && mode === 'after'
      expect(left?.enabled ?? false).toBe(isWhole)
      expect(eventsOf(host, 'account.importFailed')).toMatchObject([
        { reason: 'service_unavailable' },
      ])
      const report = await host.auth.client.users.import(batch)
      expect(codesOf(report)).toEqual([isWhole ? 'skipped' : 'created'])
      const third = await host.auth.client.users.import({ ...batch, dryRun: true })
      expect(codesOf(third)).toEqual(['conflict duplicate_row'])
      const made = idOf(report.results[0])
      expect(await host.auth.client.users.get(made)).toMatchObject({ enabled: true })
      expect(await host.auth.client.identities.list(made)).toHaveLength(2)
      expect((await login(host, row.email)).json()['status']).toBe('mfaRequired')
    },
  )
})

describe('an import that is cut off, and whose row is another the next time', () => {
  const old = {
    ...{ id: randomUUID(), email: 'ada@example.org', emailVerified: true, totpSecret },
    ...{ passwordHash: bcryptHash, identities: [google('stranger'), github('1843')] },
  }

  async function cutOff(before: (call: string) => Promise<unknown> = async () => {}) {
    const backend = withCall(memory(), async (call, work) => {
      await before(call)
      return work()
    })
    const faulty = faultyBackend(backend)
    const host = await openHost({ ...options, backend: faulty.backend })
    faulty.failNext('client_users.update', 'before')
    await expect(host.auth.client.users.import({ users: [old] })).rejects.toThrow()
    return host
  }

  const subjectsOf = async ({ auth }: ContractHost) =>
    (await auth.client.identities.list(old.id)).map(({ subject }) => subject).sort()

  it.each([
    ['has one identity less', [github('1843')], ['1843']],
    ['has another in its place', [google('1815'), github('1843')], ['1815', '1843']],
  ])('links what the row has now: it %s', async (_, identities, subjects) => {
    const host = await cutOff()
    const batch = { users: [{ ...old, identities }] }
    expect(codesOf(await host.auth.client.users.import(batch))).toEqual(['created'])
    expect(await subjectsOf(host)).toEqual(subjects)
  })

  it('has the password and the authenticator app that the row has now', async () => {
    const host = await cutOff()
    const { totpFactors } = storedIn(host, 'client')
    const before = await totpFactors.get(old.id)
    const now = { ...old, passwordHash: scryptHash, totpSecret: `K${totpSecret.slice(1)}` }
    expect(codesOf(await host.auth.client.users.import({ users: [now] }))).toEqual(['created'])
    expect(await storedIn(host, 'client').users.get(old.id)).toMatchObject({
      passwordHash: scryptHash,
    })
    expect((await totpFactors.get(old.id))?.sealedSecret).not.toBe(before?.sealedSecret)
  })

  it('leaves no identity behind where another account has one of the new ones', async () => {
    const other = { email: 'eve@example.org', emailVerified: true, identities: [google('1815')] }
    let meanwhile: (() => Promise<unknown>) | null = null
    const host = await cutOff(async (call) => {
      if (call !== 'client_oauth_identities.insert') return
      const run = meanwhile
      meanwhile = null
      await run?.()
    })
    const { oauthIdentities } = storedIn(host, 'client')
    // The identity is free when it is looked for, and taken when it is to be linked.
    meanwhile = () => host.auth.client.users.import({ users: [other] })
    const batch = { users: [{ ...old, identities: [github('1843'), google('1815')] }] }
    expect(codesOf(await host.auth.client.users.import(batch))).toEqual(['conflict identity_taken'])
    expect(await host.auth.client.users.get(old.id)).toBeNull()
    expect(await oauthIdentities.find({ userId: old.id }, { limit: 9 })).toEqual([])
  })
})

eachStore.describe('an account whose import was cut off', (kind) => {
  const row = {
    ...{
      id: randomUUID(),
      email: 'ada@example.org',
      passwordHash: bcryptHash,
      emailVerified: true,
    },
    ...{ totpSecret, identities: [google('1815')] },
  }
  const { id } = row
  const cases = [
    ['client_oauth_identities.insert', 'before'],
    ['client_oauth_identities.insert', 'after'],
    ['client_totp_factors.insert', 'before'],
    ['client_totp_factors.insert', 'after'],
    ['client_users.update', 'before'],
  ] as const

  async function cutOff(call: (typeof cases)[number][0], mode: 'before' | 'after') {
    let faulty: FaultyBackend | null = null
    const wrapBackend = (backend: Backend): Backend => {
      faulty = faultyBackend(backend)
      return faulty.backend
    }
    const host = await openHost({ ...options, wrapBackend }, kind)
    const strike: FaultyBackend | null = faulty
    Object(strike).failNext(call, mode)
    const { users } = host.auth.client
    await expect(users.import({ users: [row] })).rejects.toThrow()
    return { host, users }
  }

  it.each(cases)('at %s, %s the write, is enabled by its import alone', async (call, mode) => {
    const { host, users } = await cutOff(call, mode)
    const before = await storedIn(host, 'client').users.get(id)
    await expect(users.update(id, { enabled: true, name: 'Ada' })).rejects.toMatchObject({
      ...{ code: 'import_unfinished', status: 409 },
      message: expect.stringContaining('Import its row again'),
    })
    expect(await storedIn(host, 'client').users.get(id)).toEqual(before)
    expect(eventsOf(host, 'account.updateFailed')).toMatchObject([{ reason: 'import_unfinished' }])
    expect((await login(host, row.email)).status).toBe(401)

    expect(codesOf(await users.import({ users: [row] }))).toEqual(['created'])
    expect(await storedIn(host, 'client').users.get(id)).toMatchObject({
      ...{ enabled: true, importState: null },
    })
    expect((await login(host, row.email)).json()['status']).toBe('mfaRequired')
    expect(await users.update(id, { enabled: true })).toMatchObject({ enabled: true })
  })

  it('and which the host disabled, is completed and stays disabled until the host enables it', async () => {
    const { host, users } = await cutOff('client_totp_factors.insert', 'before')
    await users.update(id, { enabled: false })
    await users.update(id, { enabled: false, name: 'Ada' })
    await expect(users.update(id, { enabled: true })).rejects.toMatchObject({
      code: 'import_unfinished',
    })
    expect(codesOf(await users.import({ users: [row] }))).toEqual(['created'])
    expect(await users.get(id)).toMatchObject({ enabled: false, name: 'Ada' })
    expect(codesOf(await users.import({ users: [row] }))).toEqual(['skipped'])
    await users.update(id, { enabled: true })
    expect((await login(host, row.email)).json()['status']).toBe('mfaRequired')
  })
})
