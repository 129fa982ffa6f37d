import type { Condition } from '../../src/checks/check-write.js'
import type { Row, Shape } from '../../src/checks/shape.js'
import type { Collection, Doc, Page } from '../../src/ports/store.js'
import { collectionOf } from '../shared/checked-calls.js'
import type { Table } from './table.js'

const mostLeft = 100_000

/** Every method does all of its work before it first yields, so calls never interleave. */
export function memoryCollection<T extends Doc>(table: Table, shape: Shape): Collection<T> {
  const documentOf = (row: Row): Row => documentOfRow(shape, row)
  const held = (id: string, conditions: readonly Condition[]): Row | null => {
    const row = table.get(id)
    return row && conditions.every((condition) => holds(condition, row)) ? row : null
  }
  return collectionOf(shape, {
    async get(id) {
      const row = table.get(id)
      return row ? documentOf(row) : null
    },
    async find(conditions, page, equal) {
      const names = conditions.map(({ column }) => column.name)
      const ids = pageOf(table.idsEqual(names, equal), page)
      const rows = ids.map((id) => table.get(id)).filter((row) => row !== undefined)
      return rows.map(documentOf)
    },
    insert: async (row, id) => !table.get(id) && table.write(id, stored(shape, row)),
    async update(id, conditions, changes) {
      const row = held(id, conditions)
      if (!row) return null
      const changed = { ...row, ...stored(shape, changes) }
      return table.write(id, changed) ? documentOf(changed) : null
    },
    async take(id, conditions) {
      const row = held(id, conditions)
      if (!row) return null
      table.remove(id)
      return documentOf(row)
    },
    due: async (before, limit) => expired(table, before).slice(0, limit).map(documentOf),
    async sweep(before, limit) {
      const rows = expired(table, before)
      const removed = rows.slice(0, limit)
      for (const row of removed) table.remove(String(row['id']))
      return {
        removed: removed.length,
        left: Math.min(rows.length - removed.length, mostLeft),
      }
    },
  })
}

/** `json` is kept as text, as databases do: nothing is shared with the caller, in or out. */
function stored(shape: Shape, row: Row): Row {
  const entries = Object.entries(row).map(([name, value]) => {
    if (shape.columns.get(name)?.kind === 'json') return [name, JSON.stringify(value)]
    return [name, value === 0 ? 0 : value] // -0 comes back as 0 from every other backend
  })
  return Object.fromEntries(entries)
}

function documentOfRow(shape: Shape, row: Row): Row {
  const doc: Record<string, unknown> = {}
  for (const { name, kind } of shape.columns.values()) {
    doc[name] = kind === 'json' ? JSON.parse(String(row[name])) : row[name]
  }
  return doc
}

function holds(condition: Condition, row: Row): boolean {
  const value = row[condition.column.name]
  switch (condition.form) {
    case 'equals':
      return value === condition.value
    case 'in':
      return condition.values.some((one) => one === value)
    case 'gt':
      return typeof value === 'number' && value > condition.bound
    case 'lte':
      return typeof value === 'number' && value <= condition.bound
  }
}

function pageOf(sorted: readonly string[], { limit, after, newestFirst }: Page): readonly string[] {
  if (newestFirst) {
    const end = after === undefined ? sorted.length : firstNotBelow(sorted, after)
    return sorted.slice(Math.max(0, end - limit), end).reverse()
  }
  let start = after === undefined ? 0 : firstNotBelow(sorted, after)
  if (sorted[start] === after) start += 1
  return sorted.slice(start, start + limit)
}

/** Position of the first id that is `id` or sorts after it. */
function firstNotBelow(sorted: readonly string[], id: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? '') < id) low = middle + 1
    else high = middle
  }
  return low
}

/** All rows that expired at or before `before`, earliest first, then by id. */
function expired(table: Table, before: number): Row[] {
  const expiryOf = (row: Row) => Number(row['expiresAt'])
  const rows = [...table.rows()].filter((row) => {
    return row['expiresAt'] !== null && expiryOf(row) <= before
  })
  return rows.sort(
    (a, b) => expiryOf(a) - expiryOf(b) || (String(a['id']) < String(b['id']) ? -1 : 1),
  )
}
