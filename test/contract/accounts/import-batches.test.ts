import { DatabaseSync } from 'node:sqlite'
import { Pool } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { mariadb } from '../../../adapters/mariadb/index.js'
import { postgres } from '../../../adapters/postgres/index.js'
import { sqlite } from '../../../adapters/sqlite/index.js'
import type { ImportedUser } from '../../../src/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { withCall } from '../../support/stores/faulty-backend.js'
import { recordingClient } from '../../support/stores/recording-client.js'
import { spareSchemas } from '../../support/stores/spare-schemas.js'
import { takeSpareTables } from '../../support/stores/spare-tables.js'

const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const hash = '$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'

/** Every second one with an identity and a factor, every third one with an id, every fifth one disabled. */
const rows = (count: number, withIds = (at: number) => at % 3 === 0): readonly ImportedUser[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ email: `user${at}@example.org`, passwordHash: hash, emailVerified: true },
    ...{ createdAt: 1_700_000_000_000 + at, enabled: at % 5 !== 0 },
    ...(withIds(at) ? { id: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}` } : {}),
    ...(at % 2 === 0 ? { totpSecret, identities: [google(`g${at}`)] } : {}),
  }))

const google = (subject: string) =>
  ({ provider: 'google', issuer: 'https://accounts.google.com', subject }) as const

const options = { legacyHashes: { bcrypt: async () => false } }

interface Counted {
  readonly backend: Backend
  /** How many statements were sent to the database so far. */
  count(): number
}

function countedSqlite(): Counted {
  const database = new DatabaseSync(':memory:')
  let count = 0
  const { prepare } = database
  database.prepare = (text) => {
    const statement = prepare.call(database, text)
    const { all } = statement
    Reflect.set(statement, 'all', (...values: readonly unknown[]) => {
      count += 1
      return Reflect.apply(all, statement, values)
    })
    return statement
  }
  return { backend: sqlite(database), count: () => count }
}

async function countedPostgres(): Promise<Counted> {
  const schema = spareSchemas.take()
  const pool = new Pool({ connectionString: inject('postgresUrl') ?? '', max: 10 })
  onTestFinished(async () => {
    await pool.end()
    await spareSchemas.putBack(schema)
  })
  const { client, sent } = recordingClient(pool)
  return { backend: postgres(client, { schema }), count: () => sent.length }
}

async function countedMariadb(): Promise<Counted> {
  const { pool, tablePrefix, putBack } = await takeSpareTables()
  onTestFinished(putBack)
  let count = 0
  const counted: Parameters<typeof mariadb>[0] = {
    query: (statement) => pool.query(statement),
    execute(statement, values) {
      count += 1
      return pool.execute(statement, values)
    },
  }
  return { backend: mariadb(counted, { tablePrefix }), count: () => count }
}

const stores = [
  ['sqlite', true, countedSqlite],
  ['postgres', inject('postgresUrl') !== null, countedPostgres],
  ['mariadb', inject('mariadbUrl') !== null, countedMariadb],
] as const

describe.each(stores.filter(([, isThere]) => isThere))('a batch of 500 rows on %s', (...given) => {
  const open = given[2]

  it('takes at most 20 statements: new, once more, as a dry run, and with or without ids', async () => {
    const { backend, count } = await open()
    const host = await openHost({ backend, ...options })
    const importing = async (users: readonly ImportedUser[], dryRun: boolean) => {
      const before = count()
      const { results: _, ...report } = await host.auth.client.users.import({ users, dryRun })
      return { ...report, statements: count() - before }
    }
    const few = expect.toSatisfy((statements: number) => statements >= 2 && statements <= 20)
    const none = { created: 0, skipped: 0, conflicts: 0, refused: 0, statements: few }
    for (const users of [rows(500, () => true), rows(1000, () => false).slice(500)]) {
      expect(await importing(users, true)).toEqual({ ...none, created: 500 })
      expect(await importing(users, false)).toEqual({ ...none, created: 500 })
      expect(await importing(users, false)).toEqual({ ...none, skipped: 500 })
    }
  }, 60_000)
})

type Host = Awaited<ReturnType<typeof openHost>>

/** What an account of each row lacks; `none` where it is not there. */
async function gaps(host: Host, given: readonly ImportedUser[]) {
  const { users, totpFactors } = storedIn(host, 'client')
  return Promise.all(
    given.map(async ({ email, enabled, totpSecret: secret }) => {
      const [user] = await users.find({ email }, { limit: 1 })
      if (user === undefined) return 'none'
      const factor = secret === undefined || (await totpFactors.get(user.id))?.confirmed === true
      const identities = await host.auth.client.identities.list(user.id)
      const isWhole = factor && identities.length === (secret === undefined ? 0 : 1)
      if (user.importState === null) return isWhole && user.enabled === enabled ? 'whole' : 'open'
      return user.enabled ? 'open' : 'waiting'
    }),
  )
}

describe('a batch that is cut off at any call', () => {
  it.each(['before', 'after'])(
    '%s it is carried out: no account can be used that lacks its factor or identity, and the next run completes each once',
    async (when) => {
      const users = rows(30)
      for (let cutAt = 1; ; cutAt += 1) {
        let calls = 0
        const backend = withCall(countedSqlite().backend, async (name, work) => {
          if (!/client_(users|oauth|totp|account_del)/.test(name)) return work()
          calls += 1
          const isCut = calls === cutAt
          if (isCut && when === 'before') throw new Error('cut off')
          const answer = await work()
          if (isCut) throw new Error('cut off')
          return answer
        })
        const host = await openHost({ backend, ...options })
        calls = 0
        const first = await host.auth.client.users.import({ users }).catch((error) => error.code)
        if (first !== 'service_unavailable') {
          // All calls of an import that nothing disturbed.
          expect([first.created, cutAt > 5]).toEqual([30, true])
          return
        }
        calls = cutAt
        expect(await gaps(host, users), `cut at ${cutAt}`).not.toContain('open')
        const { created, skipped } = await host.auth.client.users.import({ users })
        expect(created + skipped, `cut at ${cutAt}`).toBe(30)
        expect(new Set(await gaps(host, users))).toEqual(new Set(['whole']))
        expect((await host.auth.client.users.list({ limit: 200 })).users).toHaveLength(30)
        await host.auth.close()
      }
    },
    60_000,
  )
})
