import type { Pool } from 'pg'
import { postgres } from '../../../adapters/postgres/index.js'
import type { AnyCollectionSpec, FieldSpec } from '../../../src/ports/store.js'

/** A collection `users` of documents that never expire, unless changed. */
export function looseSpec(
  fields: Readonly<Record<string, FieldSpec>>,
  changes: Partial<AnyCollectionSpec> = {},
): AnyCollectionSpec {
  return { name: 'users', fields, indexes: [], expires: 'never', ...changes }
}

/** Prepares collections in a schema, and reads which steps that schema has been through. */
export function migrations(pool: Pool) {
  return {
    prepare: (schema: string, ...specs: readonly AnyCollectionSpec[]) => {
      return postgres(pool, { schema }).store.prepare(specs)
    },
    async journal(schema: string): Promise<readonly string[]> {
      const { rows } = await pool.query(
        `select step from ${schema}.postern_migrations order by number`,
      )
      return rows.map(({ step }) => step)
    },
  }
}
