import type { InspectedProblem } from '../../src/ports/inspection.js'
import type { RemovedDocuments } from '../../src/ports/store.js'

/** A foreign key of the host that lets no row go to which it refers. */
export interface HostKey {
  /** The table of the library. */
  readonly to: string
  /** The table of the host, as a statement names it. */
  readonly from: string
  readonly name: string
  /** Whether a row of theirs refers to one of ours: `theirs."user_id" = ours."id"`. */
  readonly match: string
}

/** A column of a table of the library. */
export interface RequiredColumn {
  readonly table: string
  readonly column: string
}

const nameOf = ({ from, name }: HostKey): string => `${from} (${name})`

/** What of the host's refuses writes of the library: keys that restrict, and columns that each new row lacks. */
export function hostProblems(
  keys: readonly HostKey[],
  required: readonly RequiredColumn[],
): readonly InspectedProblem[] {
  const restricting = keys.map((key) => ({
    problem: `The foreign key ${nameOf(key)} refuses that a row of ${key.to} goes while one refers to it.`,
    remedy:
      'Declare it "on delete cascade" or "on delete set null", or remove those rows before you delete a user.',
  }))
  const lacking = required.map(({ table, column }) => ({
    problem: `The column ${column} of ${table} is not the library's, is required and has no default: it refuses every new row.`,
    remedy: 'Give it a default, or let it be null.',
  }))
  return [...restricting, ...lacking].map((one) => ({ kind: 'schema', ...one }))
}

/** The keys that hold one of these removals, each with the name of its table. */
export async function heldAmong<R extends RemovedDocuments & { readonly table: string }>(
  keys: readonly HostKey[],
  removals: readonly R[],
  isReferred: (key: HostKey, removal: R) => Promise<boolean>,
): Promise<readonly string[]> {
  const held: string[] = []
  for (const key of keys) {
    const removal = removals.find(({ table }) => table === key.to)
    if (removal !== undefined && (await isReferred(key, removal))) held.push(nameOf(key))
  }
  return held
}
