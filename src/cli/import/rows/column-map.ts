import type { ImportedIdentity } from 'postern'
import { Refusal } from '../../frame/refusal.js'
import { type CarryRules, carriedRow, type FoundUser } from './carried-row.js'
import type { NotCarried, SourceRow } from './import-source.js'
import { accountId } from './old-id.js'
import { identityAt } from './provider-identities.js'
import { flagOf, textOf, timeOf } from './read-cell.js'

const targets = [
  ...['id', 'email', 'name', 'passwordHash', 'passwordChangedAt', 'emailVerified'],
  ...['emailVerifiedAt', 'createdAt', 'lastLoginAt', 'enabled', 'disabled', 'role', 'totpSecret'],
  ...['google', 'github', 'apple'],
]

/** Which column is what, and how rows become users. */
export interface ColumnMap {
  /** In no order, each once. */
  readonly columns: readonly string[]
  /** Those that are not among the present ones. */
  missing(present: readonly string[]): readonly string[]
  toRow(key: string, cell: (column: string) => unknown): SourceRow
}

export interface MapOptions {
  /** `email=mail,passwordHash=pwd,name={first} {last}` */
  readonly map: string
  /** What a hash is made of, with columns in braces, such as `$firebase-scrypt${salt}${hash}`. */
  readonly hash: string | null
  /** Texts that stand for no value. */
  readonly nulls: readonly string[]
  /** Whether every address counts as verified. */
  readonly verified: boolean
  /** Keeps equal ids of two tables apart. */
  readonly space: string
  readonly rules: CarryRules
}

/** How exports write that there is no value. */
const markers: readonly unknown[] = ['NULL', '\\N', '[NULL]', '(null)']
const markedTargets = ['id', 'name', 'google', 'github', 'apple']

const braces = /\{([^{}]+)\}/g

/** Throws `Refusal` for a map of another form. */
export function columnMap(options: MapOptions): ColumnMap {
  const map = pairsOf(options.map)
  const inHash = inBraces(options.hash ?? '')
  checkPairs(map, options, inHash)
  const mapped = [...map].flatMap(([target, column]) => columnsOf(target, column))
  const columns = [...new Set([...mapped, ...inHash])]
  return {
    columns,
    missing: (present) => columns.filter((name) => !present.includes(name)),
    toRow(key, given) {
      const cell = (column: string) => {
        const value = given(column)
        return typeof value === 'string' && options.nulls.includes(value) ? null : value
      }
      return rowOf(key, reader(map, cell), { ...options, cell })
    },
  }
}

function inBraces(text: string): readonly string[] {
  return [...text.matchAll(braces)].map(([, name = '']) => name)
}

/** A name may be made of several, such as `{first} {last}`. */
function columnsOf(target: string, column: string): readonly string[] {
  const parts = target === 'name' ? inBraces(column) : []
  return parts.length > 0 ? parts : [column]
}

function pairsOf(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(',').map((pair): readonly [string, string] => {
    const at = pair.indexOf('=')
    return at === -1
      ? [pair.trim(), pair.trim()]
      : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
  const unknown = pairs.map(([target]) => target).find((target) => !targets.includes(target))
  if (unknown !== undefined) {
    throw new Refusal(`--map knows no "${unknown}". It takes ${targets.join(', ')}.`, 2)
  }
  return new Map(pairs)
}

function checkPairs(
  map: ReadonlyMap<string, string>,
  { hash, verified }: MapOptions,
  inHash: readonly string[],
): void {
  const has = (target: string) => map.has(target)
  const problem =
    (!has('email') && '--map must name the column of email.') ||
    (hash !== null &&
      has('passwordHash') &&
      'Say the hash with --map or with --hash, not with both.') ||
    (hash !== null &&
      inHash.length === 0 &&
      '--hash must name a column in braces, such as {hash}.') ||
    (has('enabled') && has('disabled') && '--map must have enabled or disabled, not both.') ||
    (verified &&
      (has('emailVerified') || has('emailVerifiedAt')) &&
      '--verified is for rows without a column that says so.')
  if (problem) throw new Refusal(problem, 2)
}

interface Reader {
  text(target: string): string | null
  flag(target: string): boolean | null
  time(target: string): number | null
  /** Columns whose cells are of another form. */
  readonly odd: readonly string[]
  /** Columns whose cells hold what probably stands for no value, where it would become one. */
  readonly marked: readonly string[]
}

function reader(map: ReadonlyMap<string, string>, cell: (column: string) => unknown): Reader {
  const odd: string[] = []
  const cellsAt = (target: string) => {
    const column = map.get(target)
    return column === undefined ? [] : columnsOf(target, column).map(cell)
  }
  const valueAt = (target: string) => cellsAt(target)[0]
  const isMarked = (target: string) => cellsAt(target).some((value) => markers.includes(value))
  const marked = markedTargets.filter(isMarked)
  return {
    odd,
    marked: marked.map((target) => `column ${map.get(target)}`),
    text(target) {
      const column = map.get(target) ?? ''
      if (target !== 'name' || inBraces(column).length === 0) return textOf(valueAt(target))
      return textOf(column.replace(braces, (_, part: string) => textOf(cell(part)) ?? '').trim())
    },
    flag(target) {
      const cell = valueAt(target)
      const known = flagOf(cell)
      const flag = known === undefined && target === 'disabled' ? isSince(cell) : known
      if (flag === undefined) odd.push(`column ${map.get(target)}`)
      return flag ?? null
    },
    time(target) {
      const time = timeOf(valueAt(target))
      if (Number.isNaN(time)) odd.push(`column ${map.get(target)}`)
      return time
    },
  }
}

/** Whether a time is named since when; undefined for what is no time. */
function isSince(cell: unknown): boolean | undefined {
  const time = timeOf(cell)
  return Number.isNaN(time) ? undefined : time !== null
}

interface RowOptions extends MapOptions {
  readonly cell: (column: string) => unknown
}

function rowOf(key: string, read: Reader, options: RowOptions): SourceRow {
  const id = read.text('id')
  const role = read.text('role')
  const found: FoundUser = {
    key,
    user: {
      email: read.text('email') ?? '',
      ...(id === null ? {} : { id: accountId(options.space, id) }),
      name: read.text('name'),
      passwordHash: hashOf(read, options),
      passwordChangedAt: read.time('passwordChangedAt'),
      ...verification(read, options),
      createdAt: read.time('createdAt'),
      lastLoginAt: read.time('lastLoginAt'),
      enabled: (read.flag('enabled') ?? true) && read.flag('disabled') !== true,
    },
    identities: identitiesOf(read),
    roles: role === null ? [] : [role],
    totpSecret: read.text('totpSecret'),
    notCarried: [],
  }
  const notCarried = oddCells(read)
  const row =
    notCarried.length > 0 ? { key, user: null, notCarried } : carriedRow(found, options.rules)
  return { ...row, ...(id === null ? {} : { oldId: id }) }
}

function oddCells({ odd, marked }: Reader): readonly NotCarried[] {
  const none = 'If this is what the source writes for no value, name it with --null.'
  return [
    ...(odd.length === 0 ? [] : [`Of another form: ${odd.join(', ')}.`]),
    ...(marked.length === 0 ? [] : [`No value of its kind: ${marked.join(', ')}. ${none}`]),
  ].map((reason) => ({ code: 'invalid_cell', reason }))
}

/** Null where the hash is empty, and where one of the columns of the template is. */
function hashOf(read: Reader, { hash, cell }: RowOptions): string | null {
  if (hash === null) return read.text('passwordHash')
  let isWhole = true
  const text = hash.replace(braces, (_, name: string) => {
    const part = textOf(cell(name))
    if (part === null) isWhole = false
    return part ?? ''
  })
  return isWhole ? text : null
}

function verification(read: Reader, { verified }: MapOptions) {
  const emailVerifiedAt = read.time('emailVerifiedAt')
  const flag = read.flag('emailVerified')
  // A flag that was taken back counts, whatever the time beside it says.
  if (flag === false) return { emailVerified: false }
  return { emailVerifiedAt, emailVerified: verified || flag === true || emailVerifiedAt !== null }
}

function identitiesOf(read: Reader): readonly ImportedIdentity[] {
  return (['google', 'github', 'apple'] as const).flatMap((provider) => {
    const subject = read.text(provider)
    return subject === null ? [] : [identityAt(provider, subject)]
  })
}
