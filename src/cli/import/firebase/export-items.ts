import { Refusal } from '../../frame/refusal.js'

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
