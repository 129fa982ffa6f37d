// A storage adapter for a database Postern does not ship: SQLite, which Node has built in
// (node:sqlite, Node 22.13 or newer). Processes on one machine may share the file; put it into WAL
// mode when you make it, not at every start: processes that do so at once lock each other out.
import type { DatabaseSync } from 'node:sqlite'
import { type Backend, type Counter, checkedStore, type Denylist, type Lease } from 'postern'
import { bind, schemaOf, sweep } from './collection.ts'

const schema = `
  create table if not exists postern_denylist
    (id text primary key, reason text not null, expiresAt integer not null) strict;
  create table if not exists postern_leases
    (id text primary key, owner text, renewal integer not null) strict;
  create table if not exists postern_counters
    (id text primary key, hits integer, allowed integer, expiresAt integer not null) strict;`

/** @example const backend = sqlite(new DatabaseSync('auth.db')) */
export function sqlite(db: DatabaseSync): Backend {
  db.exec('pragma busy_timeout = 2000') // waits that long for another's write, and blocks meanwhile
  db.exec('pragma synchronous = extra') // what was acknowledged survives a power cut
  const store = checkedStore({
    collection: (spec) => bind(db, spec),
    prepare: async (specs) => db.exec([schema, ...specs.map(schemaOf)].join('\n')),
  })
  return { store, denylist: denylist(db), lease: lease(db), counter: counter(db) }
}

/** An id is listed once: the first reason stays, the later expiry wins. */
function denylist(db: DatabaseSync): Denylist {
  const put = `insert into postern_denylist (id, reason, expiresAt)
    select value ->> 'id', value ->> 'reason', value ->> 'expiresAt' from json_each(?) where true
    on conflict do update set expiresAt = max(expiresAt, excluded.expiresAt)`
  const find = 'select * from postern_denylist where id in (select value from json_each(?))'
  return {
    put: async (entries) => void db.prepare(put).run(JSON.stringify(entries)),
    async find(ids) {
      const rows = db.prepare(find).all(JSON.stringify(ids))
      return rows.map(({ id, reason, expiresAt }) => {
        const known = reason === 'max_age' ? reason : 'revoked'
        return { id: String(id), reason: known, expiresAt: Number(expiresAt) }
      })
    },
    sweep: (before, limit) => sweep(db, 'postern_denylist', before, limit),
  }
}

/** One record and one guarded write: if several callers saw the same record, one of them replaces it. */
function lease(db: DatabaseSync): Lease {
  const read = 'select owner, renewal from postern_leases where id = ?'
  const create = 'insert or ignore into postern_leases (owner, renewal, id) values (?, ?, ?)'
  const replace = `update postern_leases set owner = ?, renewal = ?
    where id = ? and owner is ? and renewal = ?`
  return {
    async read(name) {
      const [row] = db.prepare(read).all(name)
      const owner = typeof row?.['owner'] === 'string' ? row['owner'] : null
      return row ? { owner, renewal: Number(row['renewal']) } : null
    },
    async replace(name, seen, next) {
      const values = [next.owner, next.renewal, name]
      if (seen === null) return db.prepare(create).run(...values).changes === 1
      return db.prepare(replace).run(...values, seen.owner, seen.renewal).changes === 1
    },
  }
}

/** Hits look, decide and count in one statement, so parallel ones never exceed the limit. */
function counter(db: DatabaseSync): Counter {
  const count = `insert into postern_counters (id, hits, allowed, expiresAt)
    values (:key, min(:more, :limit), :more <= :limit, :now + :windowMs) on conflict do update set
      hits = iif(expiresAt <= :now, excluded.hits, max(hits, min(hits + :more, :limit))),
      allowed = iif(expiresAt <= :now, excluded.allowed, hits + :more <= :limit),
      expiresAt = iif(expiresAt <= :now, excluded.expiresAt, expiresAt) returning *`
  const lower = 'update postern_counters set hits = max(0, hits - ?) where id = ?'
  const add: Required<Counter>['add'] = async (key, windowMs, limit, now, more) => {
    const [row] = db.prepare(count).all({ key, windowMs, limit, now, more })
    const { allowed, hits, expiresAt } = row ?? {}
    return { allowed: allowed === 1, count: Number(hits), resetsAt: Number(expiresAt) }
  }
  return {
    hit: (...call) => add(...call, 1),
    add,
    async forgive(key, hits) {
      if (hits === undefined) db.prepare('delete from postern_counters where id = ?').run(key)
      else db.prepare(lower).run(hits, key)
    },
    sweep: (before, limit) => sweep(db, 'postern_counters', before, limit),
  }
}
