import { pbkdf2Sync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import argon2 from 'argon2'
import { describe, expect, it } from 'vitest'
import { keycloakSource } from '../../../../src/cli/import/json-files/keycloak-source.js'
import { importTerminal } from '../../../support/cli/import-terminal.js'
import { openHost, outcomeOf, storedIn, storedUser } from '../../../support/hosts/open-host.js'

const password = 'an old password of theirs'
const bcryptHash = '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'
const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const options = {
  legacyHashes: {
    bcrypt: async (given: string, hash: string) => given === password && hash === bcryptHash,
    pbkdf2: true,
  },
}

async function prepared(files: Readonly<Record<string, string>>) {
  const host = await openHost(options)
  const place = await importTerminal(host, { options })
  for (const [name, text] of Object.entries(files)) await writeFile(join(place.folder, name), text)
  const login = async (email: string, given: string) =>
    outcomeOf(
      await host.send('POST', '/v1/auth/client/login', { body: { email, password: given } }),
    )
  const reported = async () => {
    const text = await readFile(join(place.folder, 'postern-import-report.jsonl'), 'utf8')
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    return lines.map(({ row, outcome, notCarried = [] }) => [
      ...[row, outcome],
      ...notCarried.map(({ code }: { readonly code: string }) => code),
    ])
  }
  return { host, place, login, reported }
}

const linesOf = (users: readonly object[]) => users.map((user) => JSON.stringify(user)).join('\n')

/** As https://auth0.com/docs names the members of its export of users, and of that of hashes. */
const auth0Users = [
  {
    ...{ user_id: 'auth0|5dea', email: 'ada@example.org', email_verified: true, name: 'Ada' },
    ...{ created_at: '2019-12-06T18:36:12.412Z', last_login: '2023-11-14T22:13:20.000Z' },
    identities: [
      { provider: 'auth0', user_id: '5dea', connection: 'Users' },
      { provider: 'google-oauth2', user_id: '1815', isSocial: true },
      { provider: 'facebook', user_id: '9', isSocial: true },
    ],
  },
  { user_id: 'github|1906', email: 'grace@example.org', email_verified: true, blocked: true },
  { user_id: 'auth0|euclid', email: 'euclid@example.org', name: 'euclid@example.org' },
  {
    user_id: 'auth0|mfa',
    email: 'mfa@example.org',
    email_verified: true,
    multifactor: ['guardian'],
  },
  {
    user_id: 'auth0|app',
    email: 'app@example.org',
    email_verified: true,
    multifactor: ['guardian'],
  },
]
const auth0Hashes = [
  {
    ...{ _id: { $oid: '5dea' }, email: 'ada@example.org', email_verified: true },
    ...{ passwordHash: bcryptHash, connection: 'Users', tenant: 't' },
    password_set_date: { $date: '2020-01-02T00:00:00.000Z' },
  },
  {
    ...{ _id: { $oid: '5deb' }, alt_id: 'euclid' },
    identifiers: [{ type: 'email', value: 'euclid@example.org', verified: false }],
    custom_password_hash: { algorithm: 'md5', hash: { value: 'x', encoding: 'hex' } },
  },
  { _id: { $oid: 'app' }, mfa_factors: [{ totp: { secret: totpSecret } }] },
]

describe('postern import auth0', () => {
  it('joins both exports, and carries passwords, times, factors and accounts at providers', async () => {
    const files = { 'users.json': linesOf(auth0Users), 'hashes.json': `${linesOf(auth0Hashes)}\n` }
    const { host, place, login, reported } = await prepared(files)
    const args = ['auth0', '--file', 'users.json', '--hashes', 'hashes.json', '--batch', '2']
    const { code, out } = await place.run(...args, '--json')
    expect([code, JSON.parse(out)]).toMatchObject([1, { rows: 5, created: 4, refused: 1 }])
    const ada = await storedUser(host, 'client', 'ada@example.org')
    expect(ada).toMatchObject({
      ...{ name: 'Ada', createdAt: Date.UTC(2019, 11, 6, 18, 36, 12, 412) },
      ...{ lastLoginAt: 1_700_000_000_000, passwordChangedAt: Date.UTC(2020, 0, 2) },
    })
    expect(await host.auth.client.identities.list(ada.id)).toMatchObject([
      { provider: 'google', subject: '1815' },
    ])
    expect(await login('ada@example.org', `${password}!`)).toBe('401 invalid_credentials')
    expect(await login('ada@example.org', password)).toBe('200')
    const grace = await storedUser(host, 'client', 'grace@example.org')
    expect(grace.enabled).toBe(false)
    expect(await host.auth.client.identities.list(grace.id)).toMatchObject([{ subject: '1906' }])
    expect(await storedUser(host, 'client', 'euclid@example.org')).toMatchObject({
      ...{ name: '', passwordHash: null, emailVerifiedAt: null },
    })
    const app = await storedUser(host, 'client', 'app@example.org')
    expect(await storedIn(host, 'client').totpFactors.get(app.id)).toMatchObject({
      confirmed: true,
    })
    expect(await reported()).toEqual([
      ['auth0|5dea', 'created', 'provider'],
      ['auth0|euclid', 'created', 'password_hash'],
      ['auth0|mfa', 'refused', 'second_factor'],
    ])
    expect(JSON.parse((await place.run(...args, '--json')).out)).toMatchObject({ skipped: 4 })
  })

  it('reads the export of hashes alone', async () => {
    const { host, place } = await prepared({ 'hashes.json': linesOf(auth0Hashes.slice(0, 2)) })
    const { out } = await place.run('auth0', '--file', 'hashes.json', '--json')
    expect(JSON.parse(out)).toMatchObject({ rows: 2, created: 2 })
    const { passwordHash } = await storedUser(host, 'client', 'ada@example.org')
    expect(passwordHash).toBe(bcryptHash)
  })

  it.each([
    ['is no JSON', '{"user_id":secret@example.org}', 'is no JSON'],
    ['is of another product', '{"localId":"secret@example.org"}', 'no export of Auth0'],
    ['has an endless line', `{"a":"${'secret@example.org'.repeat(99_999)}`, 'longer than 1 MiB'],
  ])('refuses a file that %s, and repeats nothing of it', async (_what, text, told) => {
    const { place } = await prepared({ 'users.json': text })
    const { code, err } = await place.run('auth0', '--file', 'users.json')
    expect([code, err]).toEqual([2, expect.stringContaining(told)])
    expect(err).not.toContain('secret@')
  })
})

const salt = Buffer.alloc(16, 7)
const keycloakPassword = (algorithm: string, value: Buffer, data: object) => ({
  ...{ type: 'password', createdDate: 1_650_000_000_000 },
  secretData: JSON.stringify({
    ...{ value: value.toString('base64'), salt: salt.toString('base64') },
    additionalParameters: {},
  }),
  credentialData: JSON.stringify({ algorithm, additionalParameters: {}, ...data }),
})
const otp = (data: object) => ({
  type: 'otp',
  secretData: JSON.stringify({ value: '12345678901234567890' }),
  credentialData: JSON.stringify({
    ...{ subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1', ...data },
  }),
})

describe('postern import keycloak', () => {
  it('carries the passwords of each algorithm, roles, apps and accounts at providers', async () => {
    const argon = await argon2.hash(password, {
      ...{ raw: true, salt, memoryCost: 7168, timeCost: 5, parallelism: 1, hashLength: 32 },
    })
    const pbkdf2 = (digest: string, bytes: number) =>
      pbkdf2Sync(password, salt, 1000, bytes, digest)
    const passwords = {
      sha1: keycloakPassword('pbkdf2', pbkdf2('sha1', 64), { hashIterations: 1000 }),
      sha256: keycloakPassword('pbkdf2-sha256', pbkdf2('sha256', 64), { hashIterations: 1000 }),
      sha512: keycloakPassword('pbkdf2-sha512', pbkdf2('sha512', 64), { hashIterations: 1000 }),
      argon2: keycloakPassword('argon2', argon, {
        hashIterations: 5,
        additionalParameters: {
          ...{ hashLength: ['32'], memory: ['7168'], type: ['id'], version: ['1.3'] },
          parallelism: ['1'],
        },
      }),
      other: keycloakPassword('sha3', salt, { hashIterations: 1 }),
    }
    const users = [
      ...Object.entries(passwords).map(([name, credential]) => ({
        ...{ id: name, username: name, email: `${name}@example.org`, emailVerified: true },
        ...{ enabled: true, createdTimestamp: 1_600_000_000_000, firstName: 'A', lastName: name },
        ...{ credentials: [credential], realmRoles: ['default-roles-shop', 'offline_access'] },
      })),
      {
        ...{ id: 'app', email: 'app@example.org', emailVerified: true, enabled: false },
        ...{ credentials: [otp({})], realmRoles: ['admin'] },
        // An alias may be any word. One of these names stands for servers of other people.
        federatedIdentities: ['shop', 'google', 'github', 'gone'].map((identityProvider) => {
          return { identityProvider, userId: '1815', userName: 'a' }
        }),
      },
      {
        id: 'slow',
        email: 'slow@example.org',
        emailVerified: true,
        credentials: [otp({ period: 60 })],
      },
      {
        id: 'key',
        email: 'key@example.org',
        emailVerified: true,
        credentials: [{ type: 'webauthn' }],
      },
      { id: 'bot', username: 'service-account-x', serviceAccountClientId: 'x' },
    ]
    const identityProviders = [
      { alias: 'shop', providerId: 'google', config: {} },
      { alias: 'google', providerId: 'oidc', config: { issuer: 'https://id.example' } },
      { alias: 'github', providerId: 'github', config: { baseUrl: 'https://git.example' } },
    ]
    const roles = { realm: [{ name: 'admin' }] }
    const realm = JSON.stringify({ realm: 'shop', roles, identityProviders, users })
    const { host, place, login, reported } = await prepared({ 'realm.json': realm })
    const args = [
      'keycloak',
      '--file',
      'realm.json',
      '--role',
      'admin=administrator',
      '--batch',
      '2',
    ]
    const { code, out } = await place.run(...args, '--json')
    expect([code, JSON.parse(out)]).toMatchObject([1, { rows: 9, created: 6, refused: 3 }])
    for (const name of ['sha1', 'sha256', 'sha512', 'argon2']) {
      const email = `${name}@example.org`
      expect(await storedUser(host, 'client', email)).toMatchObject({
        ...{ name: `A ${name}`, createdAt: 1_600_000_000_000, systemRole: 'guest' },
        passwordChangedAt: 1_650_000_000_000,
      })
      expect([name, await login(email, `${password}!`)]).toEqual([name, '401 invalid_credentials'])
      expect([name, await login(email, password)]).toEqual([name, '200'])
    }
    const app = await storedUser(host, 'client', 'app@example.org')
    expect(app).toMatchObject({ enabled: false, systemRole: 'administrator' })
    expect(await storedIn(host, 'client').totpFactors.get(app.id)).toMatchObject({
      confirmed: true,
    })
    expect(await host.auth.client.identities.list(app.id)).toMatchObject([
      { provider: 'google', subject: '1815' },
    ])
    expect(await reported()).toEqual([
      ['other', 'created', 'password_hash'],
      ['app', 'created', 'provider', 'provider', 'provider'],
      ['slow', 'refused', 'second_factor'],
      ['key', 'refused', 'second_factor'],
      ['bot', 'refused', 'service_account'],
    ])
  })

  it('takes the letters of the secret of an app for its bytes, as Keycloak does', async () => {
    const users = [{ id: 'a', email: 'a@example.org', emailVerified: true, credentials: [otp({})] }]
    const { place } = await prepared({ 'realm.json': JSON.stringify({ users }) })
    const rules = { roles: new Map<string, string>(), dropSecondFactors: false }
    const path = join(place.folder, 'realm.json')
    const { rows } = await (await keycloakSource({ path, rules, space: '' })).page(null, 9)
    // The secret of RFC 6238 in base32.
    expect(rows[0]?.user?.totpSecret).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
  })

  it.each([
    ['is no JSON', '{"users":[secret@example.org]}', 'is no JSON'],
    ['has no users', '{"realm":"secret@example.org"}', 'no list of users'],
  ])('refuses a file that %s, and repeats nothing of it', async (_what, text, told) => {
    const { place } = await prepared({ 'realm.json': text })
    const { code, err } = await place.run('keycloak', '--file', 'realm.json')
    expect([code, err]).toEqual([2, expect.stringContaining(told)])
    expect(err).not.toContain('secret@')
  })
})
