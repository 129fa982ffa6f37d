import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { openHost, outcomeOf, storedUser } from '../support/hosts/open-host.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { testConfigKeys, testSigningKey } from '../support/keys.js'
import { type BuiltPackage, buildPackage } from '../support/package/build-package.js'
import { optionsOf } from '../support/stores/postgres-schemas.js'
import { figure } from './figures.js'
import { type ImportProgram, type KillPoint, programVariable } from './imports/import-program.js'
import { legacyOptions } from './imports/legacy-options.js'
import { oldPasswords } from './imports/old-users.js'
import { randomOf } from './random-of.js'
import { sizes } from './sizes.js'

const url = inject('postgresUrl')
const { importedRows: rows, importedSamples: samples } = sizes
const kills = 3
const seed = process.env['IMPORT_SEED'] ?? randomBytes(4).toString('hex')
const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

let built: BuiltPackage | null = null
afterAll(() => built?.remove())

describe.skipIf(url === null)('figure imports on postgres', () => {
  it(`${rows} users are imported once each, though the process is killed ${kills} times (seed ${seed})`, async () => {
    const place = await newPlace(url ?? '')
    const pools = await filled(place)
    const kinds = Object.keys(pools)
    built = await buildPackage({ program: 'test/reliability/imports/import-program.ts' })

    const random = randomOf(seed)
    const points = killPoints(random)
    for (const killAt of points) {
      expect(await ended(built, { ...place.program, killAt })).toEqual({ signal: 'SIGKILL' })
    }
    const startedAt = Date.now()
    const last = await ended(built, { ...place.program, killAt: null })
    expect(last).toEqual({ code: 0 })
    const seconds = (Date.now() - startedAt) / 1000

    const { found, users, identities, factors } = await stored(place)
    expect({ found, users }).toEqual({ found: rows, users: rows })
    expect([identities, factors]).toEqual([Math.ceil(rows / 2), Math.ceil(rows / 50)])
    const ids = await jsonLines(join(place.program.folder, 'ids.jsonl'))
    expect(new Set(ids.map(({ from }) => from)).size).toBe(rows)
    expect(ids).toHaveLength(rows)
    const progress = JSON.parse(
      await readFile(join(place.program.folder, 'postern-import.json'), 'utf8'),
    )
    const { created, skipped } = progress.tally
    expect(progress).toMatchObject({ finished: true, tally: { rows, refused: 0, conflicts: 0 } })
    expect(created + skipped).toBe(rows)
    // What a killed run had made of its last batch.
    expect(skipped).toBeLessThanOrEqual(kills * 500)

    for (const [k, kind] of kinds.entries())
      await signIn(place, random, { k, of: kinds.length, pool: pools[kind] ?? [] })
    figure(
      'imports',
      'users of another product, on postgres',
      `${rows} rows imported, with SIGKILL before ${shown(points)} of the store (seed ${seed}): 0 lost, ` +
        `0 double, ${skipped} met again; the last run took ${seconds.toFixed(0)} s. ${samples} users of each of ` +
        `${kinds.join(', ')} signed in with their old password, had argon2id then, and signed in again`,
    )
  }, 3_000_000)
})

/**
 * Anywhere, before the factors and identities of a batch are there, and before its last write. Each leaves rows to do: a
 * batch takes more than ten calls, and one of each of these two.
 */
function killPoints(random: () => number): readonly KillPoint[] {
  const batches = rows / 500
  const upTo = (most: number) => 1 + Math.floor(random() * most)
  return [
    { call: null, nth: upTo(batches * 3) },
    { call: 'client_oauth_identities.insert', nth: upTo(batches / 4) },
    { call: 'client_users.update', nth: upTo(batches / 4) },
  ]
}

const shown = (points: readonly KillPoint[]): string =>
  points.map(({ call, nth }) => `call ${nth} (${call ?? 'of any kind'})`).join(', ')

interface Place {
  readonly pool: Pool
  readonly oldSchema: string
  readonly program: Omit<ImportProgram, 'killAt'>
  readonly bcrypt: (password: string, hash: string) => Promise<boolean>
}

async function newPlace(postgresUrl: string): Promise<Place> {
  const name = randomBytes(5).toString('hex')
  const [schema, oldSchema] = [`imported_${name}`, `old_${name}`]
  const pool = new Pool({
    connectionString: postgresUrl,
    max: 10,
    options: optionsOf({ search_path: oldSchema }),
  })
  const folder = await mkdtemp(join(tmpdir(), 'postern-imports-'))
  onTestFinished(async () => {
    await pool.query(`drop schema if exists ${schema} cascade; drop schema ${oldSchema} cascade`)
    await pool.end()
    await rm(folder, { recursive: true })
  })
  await pool.query(`create schema ${oldSchema}; create extension pgcrypto schema ${oldSchema}`)
  const { auth } = await testAuth({ backend: postgres(pool, { schema }) })
  await auth.close()
  const source = new URL(postgresUrl)
  source.searchParams.set('options', `-c search_path=${oldSchema}`)
  const map =
    'id,email=mail,passwordHash=pwd,emailVerified=verified,google,totpSecret=totp,createdAt=made'
  const args = ['table', '--table', 'users', '--map', map, '--ids', 'ids.jsonl']
  const [configKey] = testConfigKeys
  return {
    ...{ pool, oldSchema },
    program: {
      ...{ url: postgresUrl, schema, folder, args, source: source.href },
      ...{ signingKey: await testSigningKey(), configKey: configKey?.key ?? '' },
    },
    async bcrypt(password, hash) {
      const { rows: answers } = await pool.query('select crypt($1, $2) = $2 as ok', [
        password,
        // Postgres knows it by its first name alone.
        hash.replace(/^\$2b\$/, '$2a$'),
      ])
      return answers[0]?.ok === true
    },
  }
}

/** Each row has a kind of hash, and one of the hashes of its kind, in turn. */
async function filled({ pool }: Place) {
  const pools = await oldPasswords(pool)
  const kinds = Object.values(pools)
  const hashes = kinds.flatMap((kind, k) => kind.map(({ hash }, at) => ({ k, at, hash })))
  await pool.query('create table hashes (k int, at int, hash text)')
  await pool.query('insert into hashes select * from json_populate_recordset(null::hashes, $1)', [
    JSON.stringify(hashes),
  ])
  const perKind = kinds[0]?.length ?? 1
  await pool.query(
    `create table users as
     select i as id, 'user' || i || '@Example.org' as mail, hash as pwd, true as verified, 1700000000 + i as made,
       case when i % 2 = 0 then 'g' || i end as google, case when i % 50 = 7 then '${totpSecret}' end as totp
     from generate_series(0, $1::int - 1) i join hashes on k = i % ${kinds.length} and at = i / ${kinds.length} % ${perKind}`,
    [rows],
  )
  await pool.query('alter table users add primary key (id)')
  return pools
}

/** Runs the process to its end, or to its death. */
async function ended({ file }: BuiltPackage, program: ImportProgram) {
  const child = spawn(process.execPath, ['--enable-source-maps', file('program')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], [programVariable]: JSON.stringify(program) },
  })
  let err = ''
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const [code, signal] = await once(child, 'close')
  if (signal !== null) return { signal }
  return code === 0 ? { code } : { code, err }
}

async function stored({ pool, program: { schema } }: Place) {
  const { rows: counts } = await pool.query(`
    select (select count(*)::int from ${schema}.client_users) as users,
      (select count(*)::int from ${schema}.client_oauth_identities) as identities,
      (select count(*)::int from ${schema}.client_totp_factors where confirmed) as factors,
      (select count(*)::int from users o join ${schema}.client_users u
        on u.email = lower(o.mail) and u.password_hash = o.pwd and u.enabled and u.last_intent_id is null
          and extract(epoch from u.created_at) = o.made) as found`)
  return counts[0]
}

async function jsonLines(path: string): Promise<readonly Record<string, string>[]> {
  const text = await readFile(path, 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

interface Kind {
  /** Its place among the kinds. */
  readonly k: number
  readonly of: number
  readonly pool: readonly { readonly password: string }[]
}

/** Users of a kind, drawn at random, sign in with the password that they had. */
async function signIn(
  { pool: connections, program: { schema }, bcrypt }: Place,
  random: () => number,
  { k, of, pool }: Kind,
) {
  const host = await openHost({
    backend: postgres(connections, { schema }),
    ...legacyOptions(bcrypt),
  })
  const drawn = new Set<number>()
  while (drawn.size < samples) {
    const at = k + of * Math.floor((random() * (rows - k)) / of)
    // Those with a second factor do not sign in with the password alone.
    if (at % 50 !== 7) drawn.add(at)
  }
  for (const at of drawn) {
    const email = `user${at}@example.org`
    const { password = '' } = pool[Math.floor(at / of) % pool.length] ?? {}
    const login = (given: string) =>
      host.send('POST', '/v1/auth/client/login', { body: { email, password: given } })
    expect([at, outcomeOf(await login(`${password}!`))]).toEqual([at, '401 invalid_credentials'])
    expect([at, outcomeOf(await login(password))]).toEqual([at, '200'])
    expect((await storedUser(host, 'client', email)).passwordHash).toMatch(/^\$argon2id\$/)
    expect([at, outcomeOf(await login(password))]).toEqual([at, '200'])
  }
}
