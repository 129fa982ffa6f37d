import { Refusal } from '../../frame/refusal.js'
import { openSourceFile, type SourceFile } from '../files/source-file.js'
import type { Source, SourceRow } from '../rows/import-source.js'
import { membersOf } from '../rows/members-of.js'

export type Members = Readonly<Record<string, unknown>>

export const listOf = (value: unknown): readonly Members[] =>
  Array.isArray(value) ? value.map(membersOf) : []

interface Line {
  readonly user: Members
  /** The first byte behind it. */
  readonly end: number
}

const mostBytes = 1024 * 1024

/** The objects of a file that has one in each line. Throws `Refusal` for another file. */
export async function* jsonLines(file: SourceFile, from: number): AsyncGenerator<Line, undefined> {
  let held: Uint8Array = new Uint8Array()
  let end = from
  for await (const chunk of file.chunks(from)) {
    held = Buffer.concat([held, chunk])
    for (let at = held.indexOf(10); at >= 0; at = held.indexOf(10)) {
      end += at + 1
      yield* lineOf(held.subarray(0, at), end)
      held = held.subarray(at + 1)
    }
    if (held.length > mostBytes) throw new Refusal('A line of the file is longer than 1 MiB.', 2)
  }
  yield* lineOf(held, end + held.length)
}

function* lineOf(bytes: Uint8Array, end: number): Generator<Line, void> {
  const text = new TextDecoder().decode(bytes).trim()
  if (text !== '') yield { user: membersOf(parsed(text)), end }
}

/** The error of the parser would repeat what stands there. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('The file, or a line of it, is no JSON.', 2)
  }
}

export async function linesSource(
  path: string,
  name: string,
  toRow: (user: Members) => SourceRow,
): Promise<Source> {
  const file = await openSourceFile(path)
  return {
    fingerprint: `${name} ${file.fingerprint}`,
    total: async () => null,
    async page(after, size) {
      const rows: SourceRow[] = []
      for await (const { user, end } of jsonLines(file, Number(after ?? 0))) {
        rows.push(toRow(user))
        if (rows.length === size) return { rows, cursor: String(end) }
      }
      return { rows, cursor: null }
    },
    close: () => file.close(),
  }
}
