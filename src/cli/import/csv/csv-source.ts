import { Refusal } from '../../frame/refusal.js'
import { openSourceFile, type SourceFile } from '../files/source-file.js'
import type { ColumnMap } from '../rows/column-map.js'
import type { Source, SourceRow } from '../rows/import-source.js'

export interface CsvOptions {
  /** Absolute. */
  readonly path: string
  /** One character. */
  readonly delimiter: string
  readonly columns: Pick<ColumnMap, 'columns' | 'missing' | 'toRow'>
  /** The columns of a file whose first line does not name them. */
  readonly header?: readonly string[]
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
export async function csvSource(options: CsvOptions): Promise<Source> {
  const { path, delimiter, columns } = options
  const file = await openSourceFile(path)
  try {
    const first = await placeOfRows(file, options)
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

async function placeOfRows(file: SourceFile, { delimiter, header: own }: CsvOptions) {
  const mark = Buffer.from('\uFEFF').equals(file.beginning.subarray(0, 3)) ? 3 : 0
  if (own !== undefined) return { header: own, place: { byte: mark, line: 1 } }
  const { records } = readingFrom(file, delimiter, { byte: mark, line: 1 })
  const { value: header } = await records.next()
  await records.return(undefined)
  if (header === undefined) throw new Refusal('The CSV file is empty.', 2)
  return { header: header.fields, place: { byte: mark + header.end, line: header.nextLine } }
}

function rowReader(
  columns: CsvOptions['columns'],
  header: readonly string[],
): (record: CsvRecord) => SourceRow {
  checkHeader(columns, header)
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

/** Repeats nothing of the header: in a file without one, it is the first user. */
function checkHeader(columns: CsvOptions['columns'], header: readonly string[]): void {
  const times = (column: string) => header.filter((name) => name === column).length
  const twice = columns.columns.find((column) => times(column) > 1)
  if (twice !== undefined) {
    throw new Refusal(
      `Line 1 has column ${twice} ${times(twice)} times: rename what is not meant.`,
      2,
    )
  }
  const missing = columns.missing(header)
  const isOneLine = header.some((name) => /\r(?!\n)/.test(name))
  if (missing.length === 0 && !isOneLine) return
  const problem = isOneLine ? 'goes on after a CR' : `has no column ${missing.join(', ')}`
  throw new Refusal(
    `Line 1 ${problem}. Does it name the columns, or has the file no header? Are the line ends LF or CRLF? Is the delimiter the one of --delimiter?`,
    2,
  )
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

export interface CsvRecord {
  readonly fields: readonly string[]
  /** The first line of the record. */
  readonly line: number
  /** Where the next record starts: bytes after where reading began, and its line. */
  readonly end: number
  readonly nextLine: number
}

/** A quote that is never closed would otherwise take the rest of the file into memory. */
const mostBytes = 1024 * 1024
const quote = 0x22
const lineFeed = 0x0a

/**
 * The records of a CSV file (RFC 4180 §2) in UTF-8, with CRLF or LF at the ends of lines. Empty lines are left out.
 * Reading begins at a line, the first one by default. Holds one chunk and one record at a time. Throws `Refusal` with the line of what is of another form.
 */
export async function* csvRecords(
  chunks: AsyncIterable<Uint8Array>,
  delimiter: string,
  firstLine = 1,
): AsyncGenerator<CsvRecord, undefined> {
  let end = 0
  let line = firstLine
  for await (const bytes of recordBytes(chunks, () => line)) {
    const text = decoded(bytes, line)
    end += bytes.length
    const fields = fieldsOf(withoutLineEnd(text), delimiter)
    if (fields === null)
      throw new Refusal(
        `Line ${line}: a quote stands in a field that no quotes surround, or was not closed.`,
        2,
      )
    const nextLine = line + text.split('\n').length - 1
    if (fields.length > 1 || text.startsWith('"') || fields[0] !== '') {
      yield { fields, line, end, nextLine }
    }
    line = nextLine
  }
}

/** Each with its line end. A line end between quotes belongs to the record: quotes within are doubled. */
async function* recordBytes(
  chunks: AsyncIterable<Uint8Array>,
  lineNow: () => number,
): AsyncGenerator<Uint8Array, undefined> {
  let held: Uint8Array = new Uint8Array()
  let isQuoted = false
  for await (const chunk of chunks) {
    let at = held.length
    held = Buffer.concat([held, chunk])
    let start = 0
    for (; at < held.length; at += 1) {
      if (held[at] === quote) isQuoted = !isQuoted
      if (isQuoted || held[at] !== lineFeed) continue
      yield held.subarray(start, at + 1)
      start = at + 1
    }
    held = held.subarray(start)
    if (held.length > mostBytes) {
      throw new Refusal(
        `Line ${lineNow()}: a record is longer than 1 MiB. Was a quote not closed, or are the line ends neither LF nor CRLF?`,
        2,
      )
    }
  }
  if (held.length > 0) yield held
}

function decoded(bytes: Uint8Array, line: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refusal(`Line ${line} is not in UTF-8. Convert the file first, as with iconv.`, 2)
  }
}

function withoutLineEnd(text: string): string {
  if (text.endsWith('\r\n')) return text.slice(0, -2)
  return text.endsWith('\n') ? text.slice(0, -1) : text
}

/** Null for a record of another form. */
function fieldsOf(text: string, delimiter: string): readonly string[] | null {
  const fields: string[] = []
  let at = 0
  for (;;) {
    const field = text[at] === '"' ? quotedField(text, at) : plainField(text, at, delimiter)
    if (field === null) return null
    fields.push(field.value)
    if (field.end === text.length) return fields
    if (text[field.end] !== delimiter) return null
    at = field.end + 1
  }
}

interface Field {
  readonly value: string
  readonly end: number
}

function plainField(text: string, at: number, delimiter: string): Field | null {
  const next = text.indexOf(delimiter, at)
  const end = next === -1 ? text.length : next
  const value = text.slice(at, end)
  return value.includes('"') ? null : { value, end }
}

function quotedField(text: string, start: number): Field | null {
  let at = start + 1
  for (;;) {
    const closing = text.indexOf('"', at)
    if (closing === -1) return null
    if (text[closing + 1] !== '"') {
      return { value: text.slice(start + 1, closing).replaceAll('""', '"'), end: closing + 1 }
    }
    at = closing + 2
  }
}
