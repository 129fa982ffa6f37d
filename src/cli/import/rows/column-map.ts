import type { ImportedIdentity } from 'postern'
import { Refusal } from '../../frame/refusal.js'
import { type CarryRules, carriedRow, type FoundUser } from './carried-row.js'
import type { SourceRow } from './import-source.js'
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
  /** Throws `Refusal` where a column is missing. */
  check(present: readonly string[]): void
  toRow(key: string, cell: (column: string) => unknown): SourceRow
}

export interface MapOptions {
  /** `email=mail,passwordHash=pwd` */
  readonly map: string
  /** What a hash is made of, with columns in braces, such as `$firebase-scrypt${salt}${hash}`. */
  readonly hash: string | null
  /** Whether every address counts as verified. */
  readonly verified: boolean
  /** Keeps equal ids of two tables apart. */
  readonly space: string
  readonly rules: CarryRules
}

const braces = /\{([^{}]+)\}/g

/** Throws `Refusal` for a map of another form. */
export function columnMap(options: MapOptions): ColumnMap {
  const map = pairsOf(options.map)
  const inHash = [...(options.hash ?? '').matchAll(braces)].map(([, name = '']) => name)
  checkPairs(map, options, inHash)
  const columns = [...new Set([...map.values(), ...inHash])]
  return {
    columns,
    check(present) {
      const missing = columns.filter((name) => !present.includes(name))
      if (missing.length > 0) {
        throw new Refusal(
          `There is no column ${missing.join(', ')}. There are: ${present.join(', ')}.`,
          2,
        )
      }
    },
    toRow: (key, cell) => rowOf(key, reader(map, cell), { ...options, cell }),
  }
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
  /** Targets whose cells are of another form. */
  readonly odd: readonly string[]
}

function reader(map: ReadonlyMap<string, string>, cell: (column: string) => unknown): Reader {
  const odd: string[] = []
  const valueAt = (target: string) => {
    const column = map.get(target)
    return column === undefined ? null : cell(column)
  }
  return {
    odd,
    text: (target) => textOf(valueAt(target)),
    flag(target) {
      const flag = flagOf(valueAt(target))
      if (flag === undefined) odd.push(target)
      return flag ?? null
    },
    time(target) {
      const time = timeOf(valueAt(target))
      if (Number.isNaN(time)) odd.push(target)
      return time
    },
  }
}

interface RowOptions extends MapOptions {
  readonly cell: (column: string) => unknown
}

function rowOf(key: string, read: Reader, options: RowOptions): SourceRow {
  const id = read.text('id')
  const role = read.text('role')
  const found: FoundUser = {
    key: id ?? key,
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
  const { odd } = read
  if (odd.length === 0) return carriedRow(found, options.rules)
  const reason = `Of another form: ${odd.join(', ')}.`
  return { key: found.key, user: null, notCarried: [{ code: 'invalid_cell', reason }] }
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
