import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { importTerminal } from '../../../support/cli/import-terminal.js'
import { openHost, outcomeOf, storedUser } from '../../../support/hosts/open-host.js'
import { codeOf, finish, ticketOf } from '../../../support/people/authenticator.js'
import { onDatabase } from '../../../support/stores/postgres.js'

const url = inject('postgresUrl')
const title = `postern import supabase${url === null ? ' (Postgres not found)' : ''}`
const password = 'correct horse battery staple'
const totpSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const tenant = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const microsoft = `https://login.microsoftonline.com/${tenant}/v2.0`
const schema = readFile(new URL('schema.sql', import.meta.url), 'utf8')

type Columns = Readonly<Record<string, unknown>>

/** A project of Supabase: the schema `auth` is in a database of its own. */
async function project() {
  const name = `supabase_${randomUUID().slice(0, 8)}`
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
  const ids = new Map<string, string>()

  async function insert(table: string, columns: Columns) {
    const names = Object.keys(columns)
    const places = names.map((_, at) => `$${at + 1}`)
    await database.query(
      `insert into auth.${table} (${names.join(', ')}) values (${places.join(', ')})`,
      Object.values(columns),
    )
  }
  /** Confirmed, with a password of bcrypt, unless the columns say otherwise. */
  async function user(who: string, columns: Columns = {}) {
    const id = randomUUID()
    ids.set(who, id)
    const { rows } = await database.query("select crypt($1, gen_salt('bf', 4)) as hash", [password])
    await insert('users', {
      id,
      email: `${who}@example.org`,
      encrypted_password: rows[0].hash,
      email_confirmed_at: new Date(Date.UTC(2024, 2, 1)),
      ...columns,
    })
    return id
  }
  const identity = (user_id: string, provider: string, provider_id: string, data: Columns = {}) =>
    insert('identities', { user_id, provider, provider_id, identity_data: data })
  const factor = (user_id: string, factor_type: string, more: Columns = {}) =>
    insert('mfa_factors', { user_id, factor_type, status: 'verified', ...more })
  return { url: own.href, database, ids, user, identity, factor }
}

async function prepared() {
  const old = await project()
  const bcrypt = async (typed: string, hash: string) => {
    const { rows } = await old.database.query('select crypt($1, $2) = $2 as same', [typed, hash])
    return rows[0].same === true
  }
  const options = { legacyHashes: { bcrypt } }
  const host = await openHost(options)
  const place = await importTerminal(host, { options, env: { POSTERN_SOURCE_URL: old.url } })
  const login = (who: string) =>
    host.send('POST', '/v1/auth/client/login', {
      body: { email: `${who}@example.org`, password },
    })
  /** Who was not carried in full, with the outcome and the codes. */
  async function report() {
    const text = await readFile(join(place.folder, 'postern-import-report.jsonl'), 'utf8')
    const whoOf = (id: unknown) => [...old.ids].find(([, known]) => known === id)?.[0]
    const lines = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .map(({ row, outcome, notCarried }) => [
        whoOf(row),
        outcome,
        ...(notCarried ?? []).map(({ code }: { readonly code: string }) => code),
      ])
    return { text, lines: lines.toSorted() }
  }
  async function identitiesOf(who: string) {
    const all = await host.auth.client.identities.list(old.ids.get(who) ?? '')
    return all.map(({ provider, issuer, subject }) => [provider, issuer, subject]).toSorted()
  }
  return { old, host, place, login, report, identitiesOf }
}

describe.skipIf(url === null)(title, () => {
  it('carries ids, passwords, names, identities and apps, and names what stays behind', async () => {
    const { old, host, place, login, report, identitiesOf } = await prepared()
    const ada = await old.user('ada', {
      raw_user_meta_data: { full_name: 'Ada Lovelace', name: 'ada' },
      last_sign_in_at: new Date(Date.UTC(2024, 2, 5)),
    })
    await old.identity(ada, 'email', ada, { email: 'ada@example.org' })
    await old.identity(ada, 'google', '1815')
    await old.identity(ada, 'github', '1843')
    await old.identity(ada, 'azure', 'the-sub', { iss: microsoft, sub: 'the-sub' })
    const linked = await old.user('linked', { phone: '441815', encrypted_password: '' })
    await old.identity(linked, 'azure', 'oid', { iss: `${microsoft}/`, sub: 'other' })
    await old.identity(linked, 'azure', 'the-oid', { iss: microsoft, sub: 'other' })
    await old.identity(linked, 'sso:0d3e', 'x')
    await old.identity(linked, 'discord', 'y')
    const grace = await old.user('grace', { email_confirmed_at: null })
    await old.identity(grace, 'google', '1906')
    const roles = { provider: 'email', providers: ['email'], role: 'editor' }
    await old.user('editor', { raw_app_meta_data: roles })
    const args = ['supabase', '--batch', '2', '--json']
    const { code, out } = await place.run(...args)
    expect([code, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({ rows: 4, created: 4, refused: 0, conflicts: 0, partly: 3 }),
    ])
    const { text, lines } = await report()
    expect(lines).toEqual([
      ['editor', 'created', 'role'],
      ['grace', 'created', 'identity_unverified'],
      ['linked', 'created', ...Array.from({ length: 4 }, () => 'provider'), 'sign_in_name'],
    ])
    for (const value of ['@', '441815', '$2a$', 'Lovelace', 'sso']) {
      expect(text).not.toContain(value)
    }
    expect(await identitiesOf('ada')).toEqual([
      ['github', 'https://github.com/login/oauth', '1843'],
      ['google', 'https://accounts.google.com', '1815'],
      ['microsoft', microsoft, 'the-sub'],
    ])
    expect(await identitiesOf('linked')).toEqual([])
    expect(await identitiesOf('grace')).toEqual([])
    expect(await storedUser(host, 'client', 'ada@example.org')).toMatchObject({
      id: ada,
      name: 'Ada Lovelace',
      createdAt: Date.UTC(2024, 1, 29, 12),
      emailVerifiedAt: Date.UTC(2024, 2, 1),
      lastLoginAt: Date.UTC(2024, 2, 5),
    })
    for (const time of ['first', 'second']) {
      expect([time, outcomeOf(await login('ada'))]).toEqual([time, '200'])
    }
    const { passwordHash } = await storedUser(host, 'client', 'ada@example.org')
    expect(passwordHash).toMatch(/^\$argon2id\$/)
    expect(outcomeOf(await login('linked'))).toBe('401 invalid_credentials')
    expect(outcomeOf(await login('grace'))).toBe('403 email_not_verified')

    const again = await place.run(...args, '--restart')
    expect(JSON.parse(again.out)).toMatchObject({ rows: 4, created: 0, skipped: 4 })
  })

  it('keeps second factors, or leaves the row out', async () => {
    const { old, host, place, login, report } = await prepared()
    const app = await old.user('app')
    await old.factor(app, 'totp', { secret: totpSecret })
    await old.factor(app, 'phone', { phone: '441906' })
    const begun = await old.user('begun')
    await old.factor(begun, 'totp', { secret: totpSecret, status: 'unverified' })
    const phone = await old.user('phone')
    await old.factor(phone, 'phone', { phone: '441907' })
    const sealed = await old.user('sealed')
    await old.factor(sealed, 'totp', { secret: '{"key_id":"1","alg":"aes-gcm-hkdf","data":"eA"}' })
    const stranger = await old.user('stranger', { email_confirmed_at: null })
    await old.factor(stranger, 'totp', { secret: totpSecret })

    expect((await place.run('supabase')).code).toBe(1)
    const { text, lines } = await report()
    expect(lines).toEqual([
      ['app', 'created', 'other_factors'],
      ['phone', 'refused', 'second_factor'],
      ['sealed', 'refused', 'second_factor'],
      ['stranger', 'refused', 'second_factor'],
    ])
    expect(text).not.toContain(totpSecret)
    const ticket = await ticketOf(host, 'client', { id: app, email: 'app@example.org', password })
    expect(outcomeOf(await finish(host, 'client', ticket, codeOf(host, totpSecret)))).toBe('200')
    expect((await login('begun')).json()).toMatchObject({ status: 'authenticated' })
    expect(outcomeOf(await login('phone'))).toBe('401 invalid_credentials')

    expect((await place.run('supabase', '--drop-second-factors')).code).toBe(0)
    expect((await login('phone')).json()).toMatchObject({ status: 'authenticated' })
  })

  it('leaves out who was deleted or has no address, and disables who is banned', async () => {
    const { old, host, place, login, report } = await prepared()
    const now = host.clock.now()
    await old.user('banned', { banned_until: new Date(now + 86_400_000) })
    await old.user('served', { banned_until: new Date(now - 1000) })
    await old.user('gone', { deleted_at: new Date(now) })
    await old.user('anonymous', { email: null, encrypted_password: null, is_anonymous: true })
    await old.user('sealed', { encrypted_password: '{"key_id":"1","data":"eA"}' })
    expect((await place.run('supabase')).code).toBe(1)
    expect((await report()).lines).toEqual([
      ['anonymous', 'refused'],
      ['banned', 'created', 'ban_expires'],
      ['gone', 'refused', 'deleted'],
      ['sealed', 'created', 'password'],
    ])
    expect(outcomeOf(await login('banned'))).toBe('401 invalid_credentials')
    expect(outcomeOf(await login('served'))).toBe('200')
    expect(outcomeOf(await login('sealed'))).toBe('401 invalid_credentials')
    expect(outcomeOf(await login('gone'))).toBe('401 invalid_credentials')
  })

  it('says which database it needs', async () => {
    const host = await openHost()
    const place = await importTerminal(host, { env: { POSTERN_SOURCE_URL: url ?? '' } })
    const { code, err } = await place.run('supabase')
    expect([code, err]).toEqual([2, expect.stringContaining('auth.users')])
  })
})
