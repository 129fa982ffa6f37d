import { randomBytes } from 'node:crypto'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { describe, expect, inject, onTestFinished } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { postgres } from '../../../adapters/postgres/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { testSigningKey } from '../../support/keys.js'
import { secretsOf } from '../../support/stores/secrets.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { wholeLife } from './whole-life.js'

interface Dumpable {
  readonly backend: Backend
  /** Everything the store holds, as text. */
  dump(): Promise<string>
}

type Query = (text: string, values?: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>

const stores: Readonly<Record<string, () => Promise<Dumpable>>> = {
  /** The store’s own rows cannot be read from outside, but whatever was ever handed to it can. */
  memory: async () => {
    const { backend, written } = spyBackend(memory())
    return { backend, dump: async () => JSON.stringify(written) }
  },
  postgres: async () => {
    const schema = `stored_${randomBytes(6).toString('hex')}`
    const url = inject('postgresUrl')
    if (url === null) {
      const database = await PGlite.create()
      onTestFinished(() => database.close())
      const dump = () => dumpOf(schema, (text, values) => database.query(text, values))
      return { backend: postgres(database, { schema }), dump }
    }
    const pool = new pg.Pool({ connectionString: url, max: 4 })
    onTestFinished(async () => {
      await pool.query(`drop schema if exists "${schema}" cascade`)
      await pool.end()
    })
    const dump = () => dumpOf(schema, (text, values) => pool.query(text, values))
    return { backend: postgres(pool, { schema }), dump }
  },
}

async function dumpOf(schema: string, query: Query): Promise<string> {
  const listed = 'select table_name from information_schema.tables where table_schema = $1'
  const { rows } = await query(listed, [schema])
  const tables = rows.map((row) => String(row['table_name'])).sort()
  const texts: string[] = []
  for (const table of tables) {
    const found = await query(`select t::text as line from "${schema}"."${table}" as t`)
    texts.push(`-- ${table}`, ...found.rows.map((row) => String(row['line'])))
  }
  return texts.join('\n')
}

describe.each(Object.entries(stores))('what %s holds', (name, open) => {
  eachSurface.it('is no secret in clear, after a whole life', async (s) => {
    const { backend, dump } = await open()
    const host = await openHost({ ...withoutLimits, backend })
    const dumps: string[] = []
    const secrets = secretsOf()
    // In between as well: a spent ticket or an ended session is no longer there at the end.
    const after = async () => {
      dumps.push(await dump())
    }
    const { email } = await wholeLife(host, s, secrets, after)
    const key = await testSigningKey()
    secrets.keep(...key.split('\n').filter((line) => /^[\w+/=]{40,}$/.test(line)))
    expect(secrets.values.length).toBeGreaterThan(30)

    for (const text of dumps) expect(secrets.foundIn(text)).toEqual([])
    const all = dumps.join('\n')
    // A JWT. Three letters of it alone come about in random base64 as well.
    expect(all).not.toMatch(/PRIVATE KEY|eyJ[\w-]+\.eyJ/)
    // What should be there is, so the search looked in the right place.
    for (const expected of [email, '$argon2id$', 'register:', 'resetPassword:', 'Canary']) {
      expect(all.includes(expected), `${expected} in ${name}`).toBe(true)
    }
    expect(secretsOf(email).foundIn(all)).toEqual([email])
  })
})
