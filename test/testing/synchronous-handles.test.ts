import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { sqlite } from '../../adapters/sqlite/index.js'
import type { Backend } from '../../src/ports/backend.js'
import { conformance, type Driver } from '../../src/testing/index.js'
import { mapFields, type Twist } from '../adapters/wrong/wrong-adapter.js'
import { halfWrittenStores } from './planted-stores.js'

const name = 'interleaved: of two updates with one guard, one wins'

/**
 * Updates that read a document's version from SQLite and then raise it. Without the version in the
 * write's own condition another process gets in between, although nothing here ever waits.
 */
function versioned(db: DatabaseSync, condition: string, before = '', after = ''): Twist {
  return (right) => ({
    async update(id, guard, set) {
      if (before) db.exec(before)
      const row = db.prepare('select version from versions where id = ?').get(id)
      const version = Number(row?.['version'] ?? 0)
      const written = `insert into versions values (?, 1) on conflict (id) do update
        set version = version + 1 where ${condition} returning version`
      const won = version === 0 && db.prepare(written).get(id, version)
      if (after) db.exec(after)
      if (!won) return null
      const seen = await right.get(id)
      await right.update(id, guard, set)
      return seen && mapFields(seen, (value, field) => Reflect.get(set, field) ?? value)
    },
  })
}

async function told(condition: string, before?: string, after?: string): Promise<string> {
  const handle = new DatabaseSync(':memory:')
  handle.exec('create table versions (id text primary key, version integer)')
  const cases = conformance({
    open({ through }) {
      const { store, ...ports } = memory()
      const twist = versioned(through(handle), condition, before, after)
      return {
        backend: {
          ...ports,
          store: {
            ...store,
            collection(spec) {
              const right = store.collection(spec)
              return { ...right, ...twist(right, spec) }
            },
          },
        },
      }
    },
  })
  const found = cases.find((one) => one.name === name)
  if (!found) throw new Error('no such case')
  return found.run().then(
    () => 'kept',
    (error: Error) => error.message,
  )
}

describe('a driver without promises is interleaved inside of its steps', () => {
  it('keeps a write that carries its own condition', async () => {
    expect(await told('version = ?2')).toBe('kept')
  })

  it('finds a read, then a write', async () => {
    const message = await told('?2 >= 0')
    expect(message).toMatch(/exactly one update may win/)
    expect(message).toContain("interleaving (replay: 'AB')")
    expect(message).toMatch(/1\. A: prepare\("select version .+"\)\.get\(text\(\d+\)\) → undefined/)
    expect(message).toMatch(/2\. B: prepare\("select version .+"\)\.get\(text\(\d+\)\) → undefined/)
  })

  it('keeps a read, then a write inside of a transaction that locks others out', async () => {
    expect(await told('?2 >= 0', 'begin immediate', 'commit')).toBe('kept')
  })
})

describe('a driver without promises is cut off between its steps', () => {
  async function toldOfInsert(adapter: (database: Backend) => Backend): Promise<string> {
    const handle = new DatabaseSync(':memory:')
    const open = ({ through }: Driver) => ({ backend: adapter(sqlite(through(handle))) })
    const found = conformance({ open }).find((one) => one.name.endsWith('command: an insert'))
    const message = await found?.run().then(
      () => 'kept',
      (error: Error) => error.message,
    )
    return message ?? 'no such case'
  }

  it('finds a document that two statements write, and names the one that was the last', async () => {
    const twoWrites = halfWrittenStores.find(({ fault }) => fault.startsWith('an insert whose'))
    if (!twoWrites) throw new Error('none planted')
    const message = await toldOfInsert(twoWrites.adapter)
    expect(message).toContain('it must be carried out whole or not at all')
    expect(message).toMatch(/cut off after command \d+\n( {4}\d+\. .+\n)+ {2}case: /)
  })

  it('keeps a document that one transaction writes', async () => {
    expect(await toldOfInsert((database) => database)).toBe('kept')
  })
})
