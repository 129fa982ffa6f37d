import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CsvRecord, csvRecords } from '../../../../src/cli/import/csv/csv-source.js'

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function recordsOf(text: string | Uint8Array, size = 7, delimiter = ',') {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const records: CsvRecord[] = []
  for await (const record of csvRecords(inPieces(bytes, size), delimiter)) records.push(record)
  return records
}

const fieldsOf = async (text: string, size?: number, delimiter?: string) =>
  (await recordsOf(text, size, delimiter)).map(({ fields }) => fields)

describe('records of a CSV file', () => {
  it.each([
    ['lines of which the last has no end', 'a,b\nc,d', '<a|b><c|d>'],
    ['no empty lines', '\na\n\r\n\n"",\n', '<a><|>'],
    ['a line of one empty field in quotes', '""\n', '<>'],
    ['spaces as they are', ' a , b \n', '< a | b >'],
  ])('are %s', async (_, text, expected) => {
    for (const size of [1, 2, 3, 100]) {
      const found = await fieldsOf(text, size)
      expect(found.map((fields) => `<${fields.join('|')}>`).join('')).toBe(expected)
    }
  })

  it('are read back as they were written, in pieces of every size', async () => {
    const characters = fc.oneof(
      fc.constantFrom('"', ',', ';', '\n', '\r', '\r\n', ' ', '\uFEFF', 'é', '🔑', 'a'),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
    )
    const field = fc.array(characters, { maxLength: 6 }).map((all) => all.join(''))
    const rows = fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 5 })
    const ends = fc.constantFrom('\n', '\r\n')
    const delimiters = fc.constantFrom(',', ';', '\t')
    await fc.assert(
      fc.asyncProperty(
        ...([rows, ends, delimiters, fc.integer({ min: 1, max: 40 }), fc.boolean()] as const),
        async (table, end, delimiter, size, quotesAll) => {
          const written = (text: string) =>
            quotesAll || text === '' || /["\r\n,;\t\uFEFF]/.test(text)
              ? `"${text.replaceAll('"', '""')}"`
              : text
          const text = table.map((row) => row.map(written).join(delimiter) + end).join('')
          expect(await fieldsOf(text, size, delimiter)).toEqual(table)
          const records = await recordsOf(text, size, delimiter)
          // From each end the rest can be read, and no byte is left over.
          const bytes = new TextEncoder().encode(text)
          for (const [at, record] of records.entries()) {
            const rest = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
              bytes.subarray(record.end),
            )
            expect(await fieldsOf(rest, size, delimiter)).toEqual(table.slice(at + 1))
            const before = new TextDecoder().decode(bytes.subarray(0, record.end))
            expect(record.nextLine).toBe(before.split('\n').length)
          }
        },
      ),
    )
  })

  it.each([
    ['a quote within a field', 'a,b\nx"y,z\n', 'Line 2:'],
    ['text after a closing quote', 'a\n"x"y\n', 'Line 2:'],
    ['a quote that is not closed', 'a\nb\n"x,y\nz', 'Line 3:'],
  ])('are refused with their line: %s', async (_, text, message) => {
    for (const size of [1, 100]) {
      await expect(recordsOf(text, size)).rejects.toThrow(message)
    }
  })

  it('are refused where they are not in UTF-8, or never end', async () => {
    await expect(recordsOf(Uint8Array.from([0x61, 0x0a, 0xe9, 0x0a]))).rejects.toThrow(
      'Line 2 is not in UTF-8',
    )
    const endless = `a\n"${'b\n'.repeat(1024 * 1024)}`
    await expect(recordsOf(endless, 65_536)).rejects.toThrow(
      'Line 2: a record is longer than 1 MiB',
    )
  })
})
