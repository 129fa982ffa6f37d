import type { ImportedIdentity } from 'postern'
import { Refusal } from '../../frame/refusal.js'
import { csvSource } from '../csv/csv-source.js'
import { openSourceFile } from '../files/source-file.js'
import { type CarryRules, carriedRow } from '../rows/carried-row.js'
import type { NotCarried, Source, SourceRow } from '../rows/import-source.js'
import { membersOf } from '../rows/members-of.js'
import { accountId } from '../rows/old-id.js'
import { identityAt } from '../rows/provider-identities.js'
import { textOf, timeOf } from '../rows/read-cell.js'

export interface FirebaseOptions {
  /** Absolute. */
  readonly path: string
  readonly rules: CarryRules
  /** Keeps ids of two projects apart, such as the surface. */
  readonly space: string
}

interface Reading {
  readonly items: AsyncGenerator<ExportItem, undefined>
  /** The first byte that is read here. */
  readonly from: number
}

/** The users of `firebase auth:export users.json`. Throws `Refusal` for a file of another form. */
export async function firebaseSource({ path, rules, space }: FirebaseOptions): Promise<Source> {
  const file = await openSourceFile(path)
  const beginning = new TextDecoder().decode(file.beginning)
  const width = beginning
    .replace(/\n.*/s, '')
    .replace(/"[^"]*"/g, '')
    .split(',').length
  if (width === 28 || width === 29) {
    await file.close()
    const toRow = (_: string, cell: (name: string) => unknown) =>
      firebaseRow(ofCells(cell), { rules, space })
    const columns = { columns: [], missing: () => [], toRow }
    return csvSource({ path, delimiter: ',', header: csvColumns.slice(0, width), columns })
  }
  if (!/^\uFEFF?\s*\{\s*"users"\s*:\s*\[/.test(beginning)) {
    await file.close()
    throw new Refusal(
      'The file must begin with {"users": [ as firebase auth:export users.json writes it.',
      2,
    )
  }
  const readingFrom = (from: number): Reading => {
    return { items: exportItems(file.chunks(from), from === 0 ? 0 : 2), from }
  }
  let reading: Reading | null = null
  let next = 0

  return {
    fingerprint: `Firebase ${file.fingerprint}`,
    total: async () => null,

    async page(after, size) {
      const from = Number(after ?? 0)
      if (reading === null || from !== next) reading = readingFrom(from)
      const rows: SourceRow[] = []
      for (;;) {
        const { value: item } = await reading.items.next()
        if (item === undefined) return { rows, cursor: null }
        rows.push(firebaseRow(item.value, { rules, space }))
        next = reading.from + item.end
        if (rows.length === size) return { rows, cursor: String(next) }
      }
    },

    close: () => file.close(),
  }
}

const at = (provider: string) => [
  provider,
  ...['Email', 'Name', 'Photo'].map((one) => provider + one),
]

/** What `firebase auth:export users.csv` writes without a header; some versions end lines with a comma. */
const csvColumns = [
  ...['localId', 'email', 'emailVerified', 'passwordHash', 'salt', 'displayName', 'photoUrl'],
  ...['google.com', 'facebook.com', 'twitter.com', 'github.com'].flatMap(at),
  ...['createdAt', 'lastSignedInAt', 'phoneNumber', 'disabled', 'customAttributes', ''],
]

function ofCells(cell: (name: string) => unknown): Members {
  const ids = csvColumns.filter((name) => name.endsWith('.com'))
  const linked = ids.filter((name) => textOf(cell(name)) !== null)
  return {
    ...Object.fromEntries(csvColumns.map((name) => [name, cell(name)])),
    ...{ emailVerified: cell('emailVerified') === 'true', disabled: cell('disabled') === 'true' },
    providerUserInfo: linked.map((name) => ({ providerId: name, rawId: cell(name) })),
  }
}

type Members = Readonly<Record<string, unknown>>

/** A user of an export, as its JSON has it. */
function firebaseRow(
  given: unknown,
  { rules, space }: { readonly rules: CarryRules; readonly space: string },
): SourceRow {
  const user = membersOf(given)
  const key = textOf(user['localId']) ?? ''
  const { identities, left } = identitiesOf(user['providerUserInfo'])
  return carriedRow(
    {
      key,
      user: {
        ...(key === '' ? {} : { id: accountId(`${space} firebase`, key) }),
        email: textOf(user['email']) ?? '',
        name: textOf(user['displayName']),
        passwordHash: hashOf(user),
        emailVerified: user['emailVerified'] === true,
        createdAt: timeOf(user['createdAt']),
        lastLoginAt: timeOf(user['lastSignedInAt']),
        enabled: user['disabled'] !== true,
      },
      identities,
      roles: [],
      totpSecret: null,
      notCarried: [...left, ...otherMembers(user)],
    },
    rules,
  )
}

function hashOf({ salt, passwordHash }: Members): string | null {
  const [typed, hash] = [textOf(salt), textOf(passwordHash)]
  return typed === null || hash === null ? null : `$firebase-scrypt$${typed}$${hash}`
}

const providers = new Map<unknown, 'google' | 'github' | 'apple'>([
  ['google.com', 'google'],
  ['github.com', 'github'],
  ['apple.com', 'apple'],
])

function identitiesOf(given: unknown) {
  const identities: ImportedIdentity[] = []
  const left: NotCarried[] = []
  for (const info of Array.isArray(given) ? given.map(membersOf) : []) {
    const provider = providers.get(info['providerId'])
    const subject = textOf(info['rawId'])
    if (provider !== undefined && subject !== null) {
      identities.push(identityAt(provider, subject))
    } else if (!['password', 'phone'].includes(String(info['providerId']))) {
      const reason = 'An account at a provider stays behind: there is Google, GitHub and Apple.'
      left.push({ code: 'provider', reason })
    }
  }
  return { identities, left }
}

function otherMembers(user: Members): readonly NotCarried[] {
  const notes: NotCarried[] = []
  if (textOf(user['phoneNumber']) !== null) {
    const reason = 'The phone number stays behind: users sign in with their address.'
    notes.push({ code: 'sign_in_name', reason })
  }
  if (textOf(user['customAttributes']) !== null) {
    notes.push({
      code: 'role',
      reason: 'Custom claims stay behind: give roles by --ids and your own tables.',
    })
  }
  return notes
}

/** An object of the list, with where the next one may start: bytes after where reading began. */
export interface ExportItem {
  readonly value: unknown
  readonly end: number
}

const mostBytes = 1024 * 1024
const [quote, backslash] = [0x22, 0x5c]
const openers: readonly number[] = [0x7b, 0x5b]
const closers: readonly number[] = [0x7d, 0x5d]

/**
 * The objects of `{"users": [ … ]}`, one after the other, whatever the size of the file. `depth` is how many brackets are
 * open where reading begins: none at the start of the file, two between objects. Throws `Refusal` for other JSON.
 */
export async function* exportItems(
  chunks: AsyncIterable<Uint8Array>,
  depth: number,
): AsyncGenerator<ExportItem, undefined> {
  const scan = scanner(depth)
  let held: Uint8Array = new Uint8Array()
  let base = 0
  for await (const chunk of chunks) {
    const from = held.length
    held = Buffer.concat([held, chunk])
    let start = 0
    for (let at = from; at < held.length; at += 1) {
      const seen = scan.next(held[at] ?? 0)
      if (seen === 'begins') start = at
      if (seen !== 'ends') continue
      yield { value: itemOf(held.subarray(start, at + 1)), end: base + at + 1 }
      start = at + 1
    }
    base += start
    held = held.subarray(start)
    if (held.length > mostBytes) throw new Refusal('A user is longer than 1 MiB.', 2)
  }
  if (!scan.isDone()) throw new Refusal('The file ends in the middle: the export was cut off.', 2)
}

/** Counts brackets outside of texts. */
function scanner(depthBefore: number) {
  let depth = depthBefore
  let isText = false
  let isEscaped = false

  function inText(byte: number): null {
    if (isEscaped) isEscaped = false
    else if (byte === backslash) isEscaped = true
    else if (byte === quote) isText = false
    return null
  }

  return {
    isDone: () => depth === 0,
    next(byte: number): 'begins' | 'ends' | null {
      if (isText) return inText(byte)
      if (byte === quote) isText = true
      if (openers.includes(byte)) {
        depth += 1
        return depth === 3 ? 'begins' : null
      }
      if (!closers.includes(byte)) return null
      depth -= 1
      return depth === 2 ? 'ends' : null
    },
  }
}

function itemOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    // The error of the parser would repeat what stands there.
    throw new Refusal('A user of the file is no JSON.', 2)
  }
}
