import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ExportItem,
  exportItems,
} from '../../../../src/cli/import/firebase/firebase-source.js'

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function itemsOf(text: string, size: number, depth = 0): Promise<readonly ExportItem[]> {
  const items: ExportItem[] = []
  const pieces = inPieces(new TextEncoder().encode(text), size)
  for await (const item of exportItems(pieces, depth)) items.push(item)
  return items
}

describe('users of an export', () => {
  it('are read as JSON.parse reads them, in pieces of every size, and from each one on', async () => {
    const texts = fc.oneof(fc.constantFrom('"', '\\', '{', '}]', '\\"', 'é🔑'), fc.string())
    const names = fc.constantFrom('localId', 'email', 'a', '__proto__')
    const values = fc.oneof(
      texts,
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.dictionary(names, texts), { maxLength: 3 }),
    )
    const users = fc.array(fc.dictionary(names, values), { maxLength: 5 })
    const spaces = fc.constantFrom(0, 2)
    await fc.assert(
      fc.asyncProperty(
        users,
        spaces,
        fc.integer({ min: 1, max: 50 }),
        async (list, space, size) => {
          const text = `{"users": ${JSON.stringify(list, null, space)}}\n`
          const parsed = JSON.parse(text).users
          const items = await itemsOf(text, size)
          expect(items.map(({ value }) => value)).toEqual(parsed)
          const bytes = new TextEncoder().encode(text)
          for (const [at, { end }] of items.entries()) {
            const rest = await itemsOf(new TextDecoder().decode(bytes.subarray(end)), size, 2)
            expect(rest.map(({ value }) => value)).toEqual(parsed.slice(at + 1))
          }
        },
      ),
    )
  })

  it.each([
    ['cut off between users', '{"users":[{"a":1},', 'cut off'],
    ['cut off in a user', '{"users":[{"a":"}]}', 'cut off'],
    ['no JSON', '{"users":[{"a":hash}]}', 'A user of the file is no JSON.'],
  ])('are refused: %s', async (_, text, message) => {
    for (const size of [7, 65_536]) await expect(itemsOf(text, size)).rejects.toThrow(message)
  })

  it('are refused where one has no end', async () => {
    const endless = `{"users":[{"a":"${'x'.repeat(2_000_000)}`
    await expect(itemsOf(endless, 65_536)).rejects.toThrow('longer than 1 MiB')
  })
})
