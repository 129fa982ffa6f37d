import type { SqlDialect } from '../../../adapters/sql/dialect.js'
import type { SqlRow, SqlRun, SqlValue } from '../../../adapters/sql/sql-run.js'

/** A SQL store as its author might have written it, and cases of the kit that find its fault. */
export interface PlantedStore {
  readonly fault: string
  /** By which of the databases the fault can be had. */
  readonly on: 'sqlite' | 'mariadb'
  readonly found: readonly string[]
  readonly dialect?: Partial<SqlDialect>
  /** The statements as they are sent in place of the right ones. */
  readonly run?: (right: SqlRun) => SqlRun
}

const connectionLost = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ECONNRESET'

/** Sends other texts in place of the right ones. */
function texts(change: (text: string) => string): (right: SqlRun) => SqlRun {
  return (right) => (text, values) => right(change(text), values)
}

/** `update … returning` in two statements: the row is read when it has been written. */
function thenSelect(right: SqlRun): SqlRun {
  return async (text, values) => {
    const parts = /^update ("\w+") set .* where "id" = \?.* returning (.*)$/.exec(text)
    if (parts === null) return right(text, values)
    const [, table, columns] = parts
    const changed = await right(text, values)
    if (changed.length === 0) return []
    const id = changed[0]?.[0] as SqlValue // the first column of every list
    return right(`select ${columns} from ${table} where "id" = ?`, [id])
  }
}

/** The rows to sweep are chosen by one statement and removed by another. */
function chosenBefore(right: SqlRun): SqlRun {
  return async (text, values) => {
    const parts = /^delete from ("\w+") where "id" in \((select .*)\) returning 1$/.exec(text)
    if (parts === null) return right(text, values)
    const chosen = (await right(parts[2] ?? '', values)).map(([id]) => id as SqlValue)
    const gone = chosen.map((id) =>
      right(`delete from ${parts[1]} where "id" = ? returning 1`, [id]),
    )
    return (await Promise.all(gone)).flat()
  }
}

/** What the driver says was changed decides, and it counts no row that had the values already. */
function onlyChanges(right: SqlRun): SqlRun {
  return async (text, values) => {
    const parts = /^update ("\w+") set .* returning (.*)$/.exec(text)
    if (parts === null) return right(text, values)
    const all = async () => JSON.stringify(await right(`select ${parts[2]} from ${parts[1]}`, []))
    const before = await all()
    const rows = await right(text, values)
    return (await all()) === before ? [] : rows
  }
}

/** Times pass through the local time of the process, as a `datetime` without a zone does. */
function inLocalTime(right: SqlRun): SqlRun {
  const isTime = (value: unknown): value is number =>
    typeof value === 'number' && value > Date.UTC(2000, 0)
  const local = (value: SqlValue): SqlValue => {
    if (!isTime(value)) return value
    const date = new Date(value)
    const offset = date.getTimezoneOffset() * 60_000
    return value - offset
  }
  const back = (value: unknown): unknown => {
    if (!isTime(value)) return value
    const parts = new Date(value)
    return new Date(
      parts.getUTCFullYear(),
      parts.getUTCMonth(),
      parts.getUTCDate(),
      parts.getUTCHours(),
      parts.getUTCMinutes(),
      parts.getUTCSeconds(),
      parts.getUTCMilliseconds(),
    ).getTime()
  }
  return async (text, values) => {
    const rows = await right(text, values.map(local))
    return rows.map((row): SqlRow => row.map(back))
  }
}

export const plantedStores: readonly PlantedStore[] = [
  {
    fault: 'a column too narrow, and errors turned into warnings',
    on: 'mariadb',
    dialect: {
      types: { key: 'varchar(100)', text: 'mediumtext', integer: 'bigint(20)', json: 'longtext' },
    },
    run: texts((text) => text.replace(/^insert into (?!.*duplicate)/, 'insert ignore into ')),
    found: ['ids and indexed text of 255 code units come back whole, and differ in the last one'],
  },
  {
    fault: 'a collation that ignores trailing spaces',
    on: 'mariadb',
    dialect: { tableSuffix: ' engine = InnoDB, character set utf8mb4, collate utf8mb4_bin' },
    found: [
      'ids and unique values may hold any text',
      'unique values differ by case, accent and trailing space',
    ],
  },
  {
    fault: 'a collation that ignores case',
    on: 'mariadb',
    dialect: {
      tableSuffix: ' engine = InnoDB, character set utf8mb4, collate utf8mb4_general_nopad_ci',
    },
    found: ['unique values differ by case, accent and trailing space'],
  },
  {
    fault: 'integers of 32 bits',
    on: 'mariadb',
    dialect: {
      types: { key: 'varchar(255)', text: 'mediumtext', integer: 'int(11)', json: 'longtext' },
    },
    found: ['numbers keep every digit up to ±(2^53 − 1)'],
  },
  {
    fault: 'times by the local time of the process',
    on: 'sqlite',
    run: inLocalTime,
    found: ['times keep every millisecond from 1970 to 2100'],
  },
  {
    fault: 'update, then select',
    on: 'sqlite',
    run: thenSelect,
    found: ['interleaved: an update answers the document that it wrote, and no later one'],
  },
  {
    fault: 'rows that have the values already are not counted',
    on: 'sqlite',
    run: onlyChanges,
    found: ['an update to the values that are there already answers the document'],
  },
  {
    fault: 'unique indexes that are none',
    on: 'sqlite',
    run: texts((text) => text.replace('create unique index', 'create index')),
    found: [
      'insert on a taken unique value answers false and stores nothing',
      'of eight inserts of one unique value, one answers true',
    ],
  },
  {
    fault: 'an outage taken for a lost race',
    on: 'sqlite',
    dialect: { failure: () => 'taken' },
    found: ['writes of a failing backend reject, and never answer null or false'],
  },
  {
    fault: 'what may have been carried out is sent again',
    on: 'sqlite',
    dialect: { failure: (error) => (connectionLost(error) ? 'undone' : 'unknown') },
    found: [
      'an update whose answer was lost rejects and is not repeated',
      'a hit whose answer was lost rejects and is counted once',
    ],
  },
  {
    fault: 'a sweep that chooses first and removes then',
    on: 'sqlite',
    run: chosenBefore,
    found: ['interleaved: of a sweep and a renewal, one wins and the other sees it'],
  },
  {
    fault: 'null compared by an equals sign',
    on: 'sqlite',
    run: texts((text) => text.replaceAll(' is null', ' = null')),
    found: ['a guard of null equals only null', 'null among the values of `in` equals only null'],
  },
]
