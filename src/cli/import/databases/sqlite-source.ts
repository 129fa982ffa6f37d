import { existsSync } from 'node:fs'
import { Refusal } from '../../frame/refusal.js'
import { quoted, type SourceDatabase } from './source-database.js'

/** A source in a file, read by the SQLite of Node 22.13 and newer. */
export async function sqliteSource(path: string): Promise<SourceDatabase> {
  if (!existsSync(path)) throw new Refusal(`There is no file ${path}.`, 2)
  const { DatabaseSync } = await import('node:sqlite').catch((cause: unknown) => {
    throw new Refusal('This version of Node has no SQLite: use Node 22.13 or newer.', 2, { cause })
  })
  const database = new DatabaseSync(path, { readOnly: true })

  return {
    name: `sqlite:${path}`,
    quote: (name) => quoted(name, '"'),
    placeholder: () => '?',
    query: async (sql, values = []) => database.prepare(sql).all(...values.map(bindable)),
    async columns(table) {
      const rows = database.prepare('select name from pragma_table_info(?)').all(table)
      return rows.map(({ name }) => String(name))
    },
    close: async () => database.close(),
  }
}

function bindable(value: unknown): string | number {
  return typeof value === 'number' ? value : String(value)
}
