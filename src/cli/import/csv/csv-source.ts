import { Refusal } from '../../frame/refusal.js'
import { openSourceFile, type SourceFile } from '../files/source-file.js'
import type { ColumnMap } from '../rows/column-map.js'
import type { Source, SourceRow } from '../rows/import-source.js'
import { type CsvRecord, csvRecords } from './csv-records.js'

export interface CsvOptions {
  /** Absolute. */
  readonly path: string
  /** One character. */
  readonly delimiter: string
  readonly columns: ColumnMap
}

interface Reading {
  readonly records: AsyncGenerator<CsvRecord, undefined>
  /** The first byte that is read here. */
  readonly from: number
}

interface Place {
  readonly byte: number
  readonly line: number
}

/**
 * The rows of a CSV file whose first record names the columns. Rows are known by their line. Throws `Refusal` where
 * the file lacks a column of the map.
 */
export async function csvSource({ path, delimiter, columns }: CsvOptions): Promise<Source> {
  const file = await openSourceFile(path)
  try {
    const first = await placeOfRows(file, delimiter)
    const toRow = rowReader(columns, first.header)
    let reading: Reading | null = null
    let next = placeText(first.place)

    return {
      fingerprint: `CSV ${file.fingerprint}`,
      total: async () => null,

      async page(after, size) {
        const from = after ?? placeText(first.place)
        if (reading === null || from !== next) reading = readingFrom(file, delimiter, placeOf(from))
        const { rows, place } = await take(reading, size, toRow)
        if (place === null) return { rows, cursor: null }
        next = placeText(place)
        return { rows, cursor: next }
      },

      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

function readingFrom(file: SourceFile, delimiter: string, from: Place): Reading {
  return { records: csvRecords(file.chunks(from.byte), delimiter, from.line), from: from.byte }
}

async function placeOfRows(file: SourceFile, delimiter: string) {
  const mark = Buffer.from('\uFEFF').equals(file.beginning.subarray(0, 3)) ? 3 : 0
  const { records } = readingFrom(file, delimiter, { byte: mark, line: 1 })
  const { value: header } = await records.next()
  await records.return(undefined)
  if (header === undefined) throw new Refusal('The CSV file is empty.', 2)
  return { header: header.fields, place: { byte: mark + header.end, line: header.nextLine } }
}

function rowReader(
  columns: ColumnMap,
  header: readonly string[],
): (record: CsvRecord) => SourceRow {
  columns.check(header)
  return ({ fields, line }) => {
    const key = `line ${line}`
    if (fields.length !== header.length) {
      const reason = `The row has ${fields.length} fields, and the first line has ${header.length}.`
      return { key, user: null, notCarried: [{ code: 'field_count', reason }] }
    }
    const cells = new Map<string, unknown>(header.map((name, at) => [name, fields[at]]))
    return columns.toRow(key, (name) => cells.get(name))
  }
}

async function take(
  { records, from }: Reading,
  size: number,
  toRow: (record: CsvRecord) => SourceRow,
): Promise<{ readonly rows: readonly SourceRow[]; readonly place: Place | null }> {
  const rows: SourceRow[] = []
  for (;;) {
    const { value: record } = await records.next()
    if (record === undefined) return { rows, place: null }
    const { end, nextLine } = record
    rows.push(toRow(record))
    if (rows.length === size) return { rows, place: { byte: from + end, line: nextLine } }
  }
}

function placeText({ byte, line }: Place): string {
  return `${byte}:${line}`
}

function placeOf(text: string): Place {
  const [byte, line] = text.split(':').map(Number)
  return { byte: byte ?? 0, line: line ?? 1 }
}
