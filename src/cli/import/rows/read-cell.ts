/** A value of a database or of a file, as text; null for what is empty. */
export function textOf(cell: unknown): string | null {
  if (cell === null || cell === undefined || cell === '') return null
  if (typeof cell === 'string') return cell
  if (cell instanceof Date) return cell.toISOString()
  if (cell instanceof Uint8Array) return new TextDecoder().decode(cell)
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

const yes = ['1', 't', 'true', 'y', 'yes']
const no = ['0', 'f', 'false', 'n', 'no']

/**
 * Null for what is empty, undefined for what is neither yes nor no. A time counts as yes. Around the epoch's start and
 * before, it stands for "never" in whatever zone, and counts as no.
 */
export function flagOf(cell: unknown): boolean | null | undefined {
  if (typeof cell === 'boolean') return cell
  if (cell instanceof Date) return flagOfTime(cell.getTime())
  // A BIT(1) of MariaDB.
  if (cell instanceof Uint8Array && cell.length === 1) return cell[0] === 1
  const text = textOf(cell)?.trim().toLowerCase() ?? ''
  if (text === '') return null
  if (yes.includes(text)) return true
  return no.includes(text) ? false : undefined
}

function flagOfTime(time: number): boolean | undefined {
  return Number.isNaN(time) ? undefined : time > dayMs
}

const dayMs = 24 * 60 * 60 * 1000

/** An unset time of Go, and how a date of MariaDB that is never null begins where it is unset. */
const zeroOfGo = Date.parse('0001-01-01T00:00:00Z')
const zeroOfMariadb = '0000-00-00'

const written =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?\s?(Z|UTC|[+-]\d\d(?::?\d\d)?)?$/
/** Below, a number counts seconds: until the year 5138. Above, milliseconds: from 1973 on. */
const fewestMilliseconds = 100_000_000_000

/**
 * Epoch milliseconds of a `Date`, a number of seconds or milliseconds, or a text as of ISO 8601, in UTC where it names
 * no zone. Null for what is empty and for what stands for "never"; NaN for what is no time.
 */
export function timeOf(cell: unknown): number | null {
  const time = instantOf(cell)
  return time === 0 || time === zeroOfGo ? null : time
}

function instantOf(cell: unknown): number | null {
  if (cell instanceof Date) return cell.getTime()
  const text = textOf(cell)?.trim() ?? ''
  if (text === '' || text.startsWith(zeroOfMariadb)) return null
  if (/^\d{1,16}(?:\.\d{1,9})?$/.test(text)) {
    const number = Number(text)
    return Math.floor(number < fewestMilliseconds ? number * 1000 : number)
  }
  const [, day, time = '00:00', zone = 'Z'] = written.exec(text) ?? []
  if (day === undefined || !isDay(day)) return Number.NaN
  return Date.parse(`${day}T${withSeconds(time)}${zoneOf(zone)}`)
}

/** Engines make the first of March of a thirtieth of February. */
function isDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}

/** Three digits of a second, as all engines read them. */
function withSeconds(time: string): string {
  const [minutes = '', fraction = ''] = [time.slice(0, 8), time.slice(9, 12)]
  return `${minutes.padEnd(8, ':00')}.${fraction.padEnd(3, '0')}`
}

function zoneOf(zone: string): string {
  if (zone === 'Z' || zone === 'UTC') return 'Z'
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
}
