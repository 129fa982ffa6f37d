import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { accountId } from '../../../../src/cli/import/rows/old-id.js'
import { oauthHost } from '../../../contract/oauth/oauth-host.js'
import { importTerminal } from '../../../support/cli/import-terminal.js'
import { refreshCookieOf } from '../../../support/hosts/http-client.js'
import { openHost, outcomeOf, storedUser } from '../../../support/hosts/open-host.js'
import { codeOf, finish, ticketOf } from '../../../support/people/authenticator.js'
import { onDatabase } from '../../../support/stores/postgres.js'

const url = inject('postgresUrl')
const title = `postern import supertokens${url === null ? ' (Postgres not found)' : ''}`
const password = 'correct horse battery staple'
const totpSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const directory = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const joined = Date.UTC(2024, 1, 29, 12)
const schema = readFile(new URL('schema.sql', import.meta.url), 'utf8')

type Columns = Readonly<Record<string, unknown>>

interface Place {
  readonly app?: string
  readonly tenant?: string
  /** The id of another user to which this one is linked. */
  readonly linkedTo?: string
  /** Whether the address is verified. Default true. */
  readonly verified?: boolean
  readonly joined?: number
  readonly id?: string
}

/** A core of SuperTokens with a database of its own. */
async function core() {
  const name = `supertokens_${randomUUID().slice(0, 8)}`
  await onDatabase(url ?? '', (client) => client.query(`create database ${name}`))
  const own = new URL(url ?? '')
  own.pathname = `/${name}`
  const database = new Client({ connectionString: own.href })
  await database.connect()
  onTestFinished(async () => {
    await database.end()
    await onDatabase(url ?? '', (client) => client.query(`drop database ${name} with (force)`))
  })
  await database.query(`${await schema}; create extension pgcrypto`)
  const names = new Map<string, string>()

  async function insert(table: string, columns: Columns) {
    const keys = Object.keys(columns)
    const places = keys.map((_, at) => `$${at + 1}`)
    await database.query(
      `insert into ${table} (${keys.join(', ')}) values (${places.join(', ')})`,
      Object.values(columns),
    )
  }
  for (const [app_id, tenant_id] of [
    ['public', 'public'],
    ['public', 'acme'],
    ['other', 'public'],
  ]) {
    await database.query('insert into apps values ($1) on conflict do nothing', [app_id])
    await insert('tenants', { app_id, tenant_id })
  }

  /** As the core writes a user in its mode LEGACY. */
  async function add(who: string, recipe: string, columns: Columns, place: Place = {}) {
    const { app: app_id = 'public', tenant: tenant_id = 'public', id = randomUUID() } = place
    const since = place.joined ?? joined
    const primary_or_recipe_user_id = place.linkedTo ?? id
    const isLinked = place.linkedTo !== undefined
    names.set(id, who)
    const user = { app_id, user_id: id, primary_or_recipe_user_id, recipe_id: recipe }
    await insert('app_id_to_user_id', { ...user, is_linked_or_is_a_primary_user: isLinked })
    await insert('all_auth_recipe_users', {
      ...{ ...user, tenant_id, time_joined: since, primary_or_recipe_user_time_joined: since },
    })
    await insert(`${recipe}_users`, { app_id, user_id: id, time_joined: since, ...columns })
    if (typeof columns['email'] === 'string' && place.verified !== false) {
      await verify(id, columns['email'], app_id)
    }
    return id
  }
  const verify = (user_id: string, email: string, app_id = 'public') =>
    insert('emailverification_verified_emails', { app_id, user_id, email })
  async function withPassword(who: string, place: Place = {}, email = `${who}@example.org`) {
    const { rows } = await database.query("select crypt($1, gen_salt('bf', 4)) as hash", [password])
    return add(who, 'emailpassword', { email, password_hash: rows[0].hash }, place)
  }
  const at = (who: string, provider: string, subject: string, place: Place = {}) =>
    add(
      who,
      'thirdparty',
      {
        ...{ email: `${who}@example.org`, third_party_id: provider },
        third_party_user_id: subject,
      },
      place,
    )
  async function device(user_id: string, more: Columns = {}) {
    await database.query('insert into totp_users (user_id) values ($1) on conflict do nothing', [
      user_id,
    ])
    await insert('totp_user_devices', {
      ...{ user_id, device_name: randomUUID(), secret_key: totpSecret, period: 30, skew: 1 },
      ...{ verified: true, created_at: joined, ...more },
    })
  }
  async function map(id: string, external: string) {
    names.set(external, names.get(id) ?? '')
    await insert('userid_mapping', { supertokens_user_id: id, external_user_id: external })
    await database.query(
      'update emailverification_verified_emails set user_id = $2 where user_id = $1',
      [id, external],
    )
  }
  /** What the core does once it is in its mode MIGRATED. */
  async function migrate() {
    await database.query(`
      insert into recipe_user_tenants
        select app_id, user_id, tenant_id, recipe_id, 'email', user_id, '', '' from all_auth_recipe_users;
      update app_id_to_user_id u set time_joined = (select min(time_joined) from all_auth_recipe_users m
        where m.app_id = u.app_id and m.user_id = u.user_id)`)
  }
  const users = { add, withPassword, at, device, map, verify }
  return { url: own.href, database, names, insert, migrate, ...users }
}

type Core = Awaited<ReturnType<typeof core>>

async function prepared(old: Core, open: typeof openHost = openHost) {
  const bcrypt = async (typed: string, hash: string) => {
    const { rows } = await old.database.query('select crypt($1, $2) = $2 as same', [typed, hash])
    return rows[0].same === true
  }
  const options = { legacyHashes: { bcrypt } }
  const host = await open(options)
  const place = await importTerminal(host, { options, env: { POSTERN_SOURCE_URL: old.url } })
  const login = (who: string) =>
    host.send('POST', '/v1/auth/client/login', {
      body: { email: `${who}@example.org`, password },
    })
  async function report() {
    const text = await readFile(join(place.folder, 'postern-import-report.jsonl'), 'utf8')
    const lines = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .map(({ row, outcome, notCarried }) => [
        old.names.get(row),
        outcome,
        ...(notCarried ?? []).map(({ code }: { readonly code: string }) => code),
      ])
    return { text, lines: lines.toSorted() }
  }
  async function identitiesOf(id: string) {
    const all = await host.auth.client.identities.list(id)
    return all.map(({ provider, issuer, subject }) => [provider, issuer, subject]).toSorted()
  }
  return { host, place, login, report, identitiesOf }
}

describe.skipIf(url === null)(title, () => {
  it('makes one account of linked users, with its password, identities and app', async () => {
    const old = await core()
    const ada = await old.withPassword('ada')
    await old.at('ada', 'google', '1815', { linkedTo: ada, joined: joined - 5000 })
    await old.at('ada', 'github', '1843', { linkedTo: ada })
    await old.at('ada', 'active-directory', 'the-sub', { linkedTo: ada })
    await old.at('ada', 'discord', 'y', { linkedTo: ada })
    const metadata = { first_name: 'Ada', last_name: 'Lovelace', plan: 'gold' }
    await old.insert('user_metadata', { user_id: ada, user_metadata: JSON.stringify(metadata) })
    await old.insert('user_roles', { user_id: ada, role: 'editor' })
    const grace = await old.withPassword('grace')
    await old.device(grace)
    await old.device(grace, { verified: false, secret_key: 'A'.repeat(32), created_at: 1 })
    const alan = await old.at('alan', 'github', '1912', { verified: false })
    const { host, place, login, report, identitiesOf } = await prepared(old)

    const args = ['supertokens', '--batch', '1', '--json', '--microsoft-tenant', directory]
    const dry = await place.run(...args, '--dry-run')
    expect(JSON.parse(dry.out)).toMatchObject({ rows: 3, created: 3, dryRun: true })
    const { code, out } = await place.run(...args)
    expect([code, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({ rows: 3, created: 3, refused: 0, conflicts: 0, partly: 2 }),
    ])
    const { text, lines } = await report()
    expect(lines).toEqual([
      ['ada', 'created', 'provider', 'role'],
      ['alan', 'created', 'identity_unverified'],
    ])
    for (const value of ['@', '$2a$', 'Lovelace', totpSecret]) expect(text).not.toContain(value)
    expect(await identitiesOf(ada)).toEqual([
      ['github', 'https://github.com/login/oauth', '1843'],
      ['google', 'https://accounts.google.com', '1815'],
      ['microsoft', `https://login.microsoftonline.com/${directory}/v2.0`, 'the-sub'],
    ])
    expect(await identitiesOf(alan)).toEqual([])
    expect(await storedUser(host, 'client', 'ada@example.org')).toMatchObject({
      ...{ id: ada, name: 'Ada Lovelace', createdAt: joined - 5000 },
    })
    for (const time of ['first', 'second']) {
      expect([time, outcomeOf(await login('ada'))]).toEqual([time, '200'])
    }
    const { passwordHash } = await storedUser(host, 'client', 'ada@example.org')
    expect(passwordHash).toMatch(/^\$argon2id\$/)
    const who = { id: grace, email: 'grace@example.org', password }
    const ticket = await ticketOf(host, 'client', who)
    expect(outcomeOf(await finish(host, 'client', ticket, codeOf(host, totpSecret)))).toBe('200')

    const again = await place.run(...args, '--restart')
    expect(JSON.parse(again.out)).toMatchObject({ rows: 3, created: 0, skipped: 3 })
  })

  it('lets users in by an account at a provider, whatever its address is by now', async () => {
    const old = await core()
    const ada = await old.at('ada', 'github', '1843')
    let steps: Awaited<ReturnType<typeof oauthHost>> | undefined
    const { host, place } = await prepared(old, async (options) => {
      steps = await oauthHost(options)
      return steps
    })
    expect((await place.run('supertokens')).code).toBe(0)
    const account = { subject: '1843', email: 'countess@example.org', verified: true }
    const reply = await steps?.signIn('client', 'github', account)
    const cookie = reply === undefined ? '' : refreshCookieOf(reply, 'client')
    const session = await host.send('GET', '/v1/auth/client/session', { cookie })
    expect(session.json()['user']).toMatchObject({ id: ada, email: 'ada@example.org' })
  })

  it('never makes one account of users that are not linked: the verified one is carried, or the older one', async () => {
    const old = await core()
    await old.withPassword('ada', { verified: false })
    const ada = await old.at('ada', 'google', '1815', { joined: joined + 1 })
    const grace = await old.at('grace', 'google', '1906')
    await old.withPassword('grace', { joined: joined + 1 })
    const idOf = (last: number) => `0199a1b2-0000-7000-8000-00000000000${last}`
    const younger = { id: idOf(1), joined: joined + 1, verified: false }
    await old.withPassword('alan', younger)
    await old.at('alan', 'github', '1912', { id: idOf(2), verified: false })
    const { host, place, login, report, identitiesOf } = await prepared(old)
    // One row a page: the other account of the address is on another one.
    expect((await place.run('supertokens', '--batch', '1')).code).toBe(1)
    expect((await report()).lines).toEqual([
      ['ada', 'refused', 'shared_address'],
      ['alan', 'created', 'identity_unverified'],
      ['alan', 'refused', 'shared_address'],
      ['grace', 'refused', 'shared_address'],
    ])
    expect((await storedUser(host, 'client', 'ada@example.org')).passwordHash).toBeNull()
    expect(outcomeOf(await login('ada'))).toBe('401 invalid_credentials')
    expect(await identitiesOf(ada)).toEqual([['google', 'https://accounts.google.com', '1815']])
    expect(await identitiesOf(grace)).toEqual([['google', 'https://accounts.google.com', '1906']])
  })

  it('takes no password that was planted before the users were linked', async () => {
    const old = await core()
    const ada = await old.at('ada', 'google', '1815')
    await old.withPassword('ada', { linkedTo: ada, verified: false })
    const { place, login, report, identitiesOf } = await prepared(old)
    expect((await place.run('supertokens')).code).toBe(0)
    expect((await report()).lines).toEqual([['ada', 'created', 'password']])
    expect(outcomeOf(await login('ada'))).toBe('401 invalid_credentials')
    expect(await identitiesOf(ada)).toEqual([['google', 'https://accounts.google.com', '1815']])
  })

  it('calls users as the tables of the host do: by the ids that they were mapped to', async () => {
    const old = await core()
    const ada = await old.withPassword('ada')
    await old.map(ada, 'user-1')
    await old.device('user-1')
    await old.insert('user_roles', { user_id: 'user-1', role: 'editor' })
    await old.insert('user_roles', { user_id: 'user-1', role: 'owner', tenant_id: 'acme' })
    const grace = await old.withPassword('grace')
    await old.map(await old.withPassword('forced'), grace)
    // Another app has the same id for another user.
    const stranger = await old.withPassword('stranger', { verified: false })
    await old.map(stranger, 'user-2')
    await old.verify('user-2', 'stranger@example.org', 'other')
    // The address was changed since, and the new one is not verified.
    const changed = await old.withPassword('changed', { verified: false })
    await old.verify(changed, 'former@example.org')
    const { host, place, login, report } = await prepared(old)
    const args = ['--ids', 'ids.jsonl', '--role', 'editor=administrator']
    expect((await place.run('supertokens', ...args)).code).toBe(1)
    const shared = (await report()).lines.map(([, ...outcome]) => outcome)
    expect(shared).toEqual([
      ['refused', 'shared_id'],
      ['refused', 'shared_id'],
    ])
    const id = accountId('client supertokens public', 'user-1')
    const ids = await readFile(join(place.folder, 'ids.jsonl'), 'utf8')
    expect(ids).toContain(JSON.stringify({ from: 'user-1', to: id }))
    expect((await storedUser(host, 'client', 'ada@example.org')).systemRole).toBe('administrator')
    const ticket = await ticketOf(host, 'client', { id, email: 'ada@example.org', password })
    expect(outcomeOf(await finish(host, 'client', ticket, codeOf(host, totpSecret)))).toBe('200')
    for (const who of ['stranger', 'changed']) {
      expect([who, outcomeOf(await login(who))]).toEqual([who, '403 email_not_verified'])
    }
  })

  it.each(['LEGACY', 'MIGRATED'])('carries one tenant of one app, in mode %s', async (mode) => {
    const old = await core()
    const ada = await old.withPassword('ada')
    await old.at('ada', 'google', '1815', { linkedTo: ada, tenant: 'acme' })
    await old.withPassword('acme', { tenant: 'acme' })
    await old.withPassword('elsewhere', { app: 'other' })
    if (mode === 'MIGRATED') {
      await old.migrate()
      // Left the tenant since; the former table is not written any more.
      await old.withPassword('left')
      await old.database.query('update app_id_to_user_id set time_joined = 1')
    }
    const { place, login, report, identitiesOf } = await prepared(old)
    expect((await place.run('supertokens')).code).toBe(0)
    expect((await report()).lines).toEqual([['ada', 'created', 'other_tenant']])
    expect(await identitiesOf(ada)).toEqual([])
    const outcomes = async () => {
      const all = ['ada', 'acme', 'elsewhere', 'left'].map(async (who) => (await login(who)).status)
      return Promise.all(all)
    }
    expect(await outcomes()).toEqual([200, 401, 401, 401])
    const other = await place.run('supertokens', '--app-id', 'other', '--report', 'other.jsonl')
    expect(other.code).toBe(0)
    expect(await outcomes()).toEqual([200, 401, 200, 401])
    const acme = await place.run(
      'supertokens',
      '--tenant-id',
      'acme',
      '--report',
      'acme.jsonl',
      '--json',
    )
    expect(JSON.parse(acme.out)).toMatchObject({ rows: 2, created: 1, skipped: 1 })
    expect(await outcomes()).toEqual([200, 200, 200, 401])
  })

  it('refuses users without an address, and a second factor that is lost', async () => {
    const old = await core()
    await old.add('phone', 'passwordless', { phone_number: '+441815' })
    await old.add('code', 'passwordless', { email: 'code@example.org' })
    const made = { email: 'x.discord@stfakeemail.supertokens.com', third_party_user_id: 'x' }
    await old.add('made', 'thirdparty', { ...made, third_party_id: 'discord' })
    await old.add('key', 'webauthn', { email: 'key@example.org', rp_id: 'example.org' })
    const slow = await old.withPassword('slow')
    await old.device(slow, { period: 60 })
    const begun = await old.withPassword('begun', { verified: false })
    await old.device(begun)
    const { place, login, report } = await prepared(old)
    expect((await place.run('supertokens')).code).toBe(1)
    const { text, lines } = await report()
    expect(lines).toEqual([
      ['begun', 'refused', 'second_factor'],
      ['key', 'created', 'passkeys'],
      ['made', 'refused', 'provider', 'made_up_address'],
      ['phone', 'refused', 'sign_in_name'],
      ['slow', 'refused', 'second_factor'],
    ])
    for (const value of ['441815', totpSecret, '$2a$', 'stfakeemail', 'key@'])
      expect(text).not.toContain(value)
    expect(outcomeOf(await login('slow'))).toBe('401 invalid_credentials')
    expect((await place.run('supertokens', '--drop-second-factors')).code).toBe(1)
    expect(outcomeOf(await login('slow'))).toBe('200')
  })

  it('takes addresses that nothing verified where the host says so', async () => {
    const old = await core()
    const ada = await old.at('ada', 'google', '1815', { verified: false })
    const { place, identitiesOf } = await prepared(old)
    expect((await place.run('supertokens', '--verified')).code).toBe(0)
    expect(await identitiesOf(ada)).toEqual([['google', 'https://accounts.google.com', '1815']])
  })

  it('says which database, tenant and directory it needs', async () => {
    const host = await openHost()
    const empty = await importTerminal(host, { env: { POSTERN_SOURCE_URL: url ?? '' } })
    const { code, err } = await empty.run('supertokens')
    expect([code, err]).toEqual([2, expect.stringContaining('app_id_to_user_id')])
    const place = await importTerminal(host, { env: { POSTERN_SOURCE_URL: (await core()).url } })
    for (const [flag, value, said] of [
      ['--tenant-id', "x'; drop table apps; --", '--tenant-id'],
      ['--app-id', 'nowhere', '--app-id'],
      ['--microsoft-tenant', 'common', '--microsoft-tenant'],
    ] as const) {
      const answer = await place.run('supertokens', flag, value)
      expect([flag, answer.code, answer.err]).toEqual([flag, 2, expect.stringContaining(said)])
    }
  })
})
