import { longestKey } from '../../src/checks/check-value.js'
import type { NarrowDialect } from '../sql/index.js'

// Set for the statement alone, because the host's sessions may have other values.
const strict = "set statement sql_mode = 'STRICT_ALL_TABLES', check_constraint_checks = 1 for "

/**
 * A `mediumtext` becomes a column of this type. The strict mode alone would not do: it cuts spaces at the end of a text and
 * says nothing. A constraint counts first, for the rows that are there and for those that others write until
 * the type is changed. The same statement that changes the type removes it.
 */
export function narrow(type: string): NarrowDialect {
  // Two bytes for each UTF-16 code unit.
  const lengthOf = (column: string) => `octet_length(convert(${column} using utf16))`
  return {
    isTooLong: (column) => `${lengthOf(column)} > ${2 * longestKey}`,
    statements({ table, column, declare }) {
      const constraint = `\`fits_${column.replaceAll('`', '')}\``
      const fits = `check (${lengthOf(column)} <= ${2 * longestKey})`
      return [
        `${strict}alter table ${table} add constraint if not exists ${constraint} ${fits}`,
        `${strict}alter table ${table} drop constraint if exists ${constraint}, modify column ${declare(type)}`,
      ]
    },
  }
}
