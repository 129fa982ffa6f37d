import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { AnyCollectionSpec, Collection, Doc, GuardTest, Scalar } from 'postern'

/** A table of JSON documents. Creates what is missing and nothing else: it may run any time. */
export function schemaOf(spec: AnyCollectionSpec): string {
  const indexes = [...spec.indexes, { on: ['expiresAt'], unique: false }].map(({ on, unique }) => {
    const fields = on.map((name) => fieldOf(spec, name))
    const columns = unique ? fields : [...fields, 'id'] // the id last: the order of `find`
    return `create ${unique ? 'unique index' : 'index'} if not exists "${spec.name} by ${on.join()}"
      on "${spec.name}" (${columns.join(', ')});`
  })
  return `create table if not exists "${spec.name}" (id text primary key, doc text not null,
    expiresAt integer as (doc ->> 'expiresAt')) strict; ${indexes.join('\n')}`
}

/** SQL for a field, in guards and indexes alike. Missing is not null: it reads as the default. */
function fieldOf(spec: AnyCollectionSpec, name: string): string {
  if (name === 'id' || name === 'expiresAt') return name
  const absent = spec.fields[name]?.default
  if (absent === undefined) return `(doc ->> '${name}')`
  const text = JSON.stringify(absent).replaceAll("'", "''")
  return `iif(json_type(doc, '$.${name}') is null, '${text}' ->> '$', doc ->> '${name}')`
}

/** Chosen and removed by one statement: what is renewed in time cannot be among them. */
export async function sweep(db: DatabaseSync, table: string, before: number, limit: number) {
  const expired = `select id from ${table} where expiresAt <= ? limit ?`
  const swept = db.prepare(`delete from ${table} where id in (${expired})`).run(before, limit)
  return Number(swept.changes)
}

/** One statement a call, and SQLite carries out each of them whole or not at all. */
export function bind<T extends Doc>(db: DatabaseSync, spec: AnyCollectionSpec): Collection<T> {
  const table = `"${spec.name}"`
  const names = ['id', 'expiresAt', ...Object.keys(spec.fields)]

  /** The fields of this spec: a newer replica may have stored more of them, an older one fewer. */
  function documentOf(text: unknown): T {
    const stored = new Map<string, unknown>(Object.entries(JSON.parse(String(text))))
    const entries = names.map((name) => {
      return [name, stored.has(name) ? stored.get(name) : (spec.fields[name]?.default ?? null)]
    })
    return Object.fromEntries(entries) as T // the fields are T's own
  }

  /** `all`, never `get`, which stops at the first row: a write is committed at the statement's end,
   * and when that fails the caller has to hear of it. */
  const documents = (sql: string, values: readonly SQLInputValue[]): readonly T[] => {
    const rows = db.prepare(sql).all(...values)
    return rows.map(({ doc }) => documentOf(doc))
  }

  /** SQL for a guard, and what its question marks stand for. `is`, so that null equals null. */
  function where(...all: object[]): readonly [sql: string, values: readonly SQLInputValue[]] {
    const entries: [string, GuardTest<Scalar>][] = all.flatMap((tests) => Object.entries(tests))
    const parts = entries.map(([name, test]): [string, SQLInputValue] => {
      const field = fieldOf(spec, name)
      if (typeof test === 'boolean') return [`${field} is ?`, Number(test)]
      if (typeof test !== 'object' || test === null) return [`${field} is ?`, test]
      if ('gt' in test) return [`${field} > ?`, test.gt]
      if ('lte' in test) return [`${field} <= ?`, test.lte]
      const isOne = `exists (select 1 from json_each(?) as one where one.value is ${field})`
      return [isOne, JSON.stringify(test.in)]
    })
    return [parts.map(([sql]) => sql).join(' and '), parts.map(([, value]) => value)]
  }

  return {
    async get(id) {
      return documents(`select doc from ${table} where id = ?`, [id])[0] ?? null
    },
    async find(equal, { limit, after, newestFirst }) {
      const [tests, values] = where(equal)
      const [order, beyond] = newestFirst ? ['desc', '<'] : ['asc', '>']
      const page = after === undefined ? '' : `and id ${beyond} ?`
      const sql = `select doc from ${table} where ${tests} ${page} order by id ${order} limit ${limit}`
      return documents(sql, after === undefined ? values : [...values, after])
    },
    async insert(doc) {
      const sql = `insert into ${table} (id, doc) values (?, ?) on conflict do nothing`
      return db.prepare(sql).run(doc.id, JSON.stringify(doc)).changes === 1
    },
    async update(id, guard, set) {
      const [tests, values] = where({ id }, guard)
      const changes = Object.keys(set).map((name) => `'$.${name}', json(?)`)
      const changed = Object.values(set).map((value) => JSON.stringify(value))
      const sql = `update ${table} set doc = json_set(doc, ${changes}) where ${tests} returning doc`
      try {
        return documents(sql, [...changed, ...values])[0] ?? null
      } catch (error) {
        const isTaken = error instanceof Error && 'errcode' in error && error.errcode === 2067
        if (isTaken) return null // SQLITE_CONSTRAINT_UNIQUE
        throw error // never null: that would say that nothing was written
      }
    },
    async take(id, guard = {}) {
      const [tests, values] = where({ id }, guard)
      return documents(`delete from ${table} where ${tests} returning doc`, values)[0] ?? null
    },
    async due(before, limit) {
      const expired = `select doc from ${table} where expiresAt <= ?`
      return documents(`${expired} order by expiresAt, id limit ?`, [before, limit])
    },
    async sweep(before, limit) {
      const removed = await sweep(db, table, before, limit)
      const expired = `select 1 from ${table} where expiresAt <= ? limit 100000`
      const [left] = db.prepare(`select count(*) as n from (${expired})`).all(before)
      return { removed, left: Number(left?.['n']) }
    },
  }
}
