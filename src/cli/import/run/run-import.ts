import { type FileHandle, open } from 'node:fs/promises'
import type { ImportBatch, ImportReport, ImportResult } from 'postern'
import { Refusal } from '../../frame/refusal.js'
import type { NotCarried, Source, SourceRow } from '../rows/import-source.js'
import { keptBytes } from './kept-bytes.js'
import { noRows, type Progress, readProgress, type Tally, writeProgress } from './progress-file.js'

export interface ImportRun {
  readonly source: Source
  readonly surface: string
  /** `users.import` of the surface. */
  readonly importUsers: (batch: ImportBatch) => Promise<ImportReport>
  readonly allowRoles: readonly string[]
  readonly dryRun: boolean
  /** Rows of a batch: as many as a killed run may repeat. */
  readonly batchSize: number
  readonly files: ImportFiles
  /** Starts from the first row, also where an earlier run did not come to its end. */
  readonly restart: boolean
  readonly tell: (line: string) => void
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Absolute paths. */
export interface ImportFiles {
  readonly progress: string
  /** A line for each row that was refused, was in conflict, has another address, or was not carried in full. */
  readonly report: string
  /** A line `{ from, to }` for each account, which no later run writes again; null for none. */
  readonly ids: string | null
}

export interface ImportOutcome extends Tally {
  /** Whether an earlier run had done some of the rows. */
  readonly resumed: boolean
}

const tellEveryMs = 1000
/** Ids, addresses and identities of rows that are remembered: half a gigabyte. Beyond, the store alone knows. */
const mostSeen = 5_000_000

/**
 * Imports what the source has, batch after batch. After each, the progress is on the disk: a run that is killed repeats
 * at most one batch, which changes nothing where it was done already. A dry run neither reads nor writes progress.
 * Throws `Refusal`, before it does anything, where it would cut a file that this import did not write.
 */
export async function runImport(run: ImportRun): Promise<ImportOutcome> {
  const { source, files, dryRun } = run
  const { note, discarded } = dryRun ? noProgress : await earlierProgress(run)
  const resumed = note !== null && isUnderWay(note) && !run.restart ? note : null
  const kept = await keptBytes({ files, dryRun, note, discarded, isResumed: resumed !== null })
  if (resumed !== null) run.tell(`Goes on after ${count(resumed.tally.rows)} rows.`)
  const writers = new Map<string, LineFile>()
  try {
    for (const [path, bytes] of kept) {
      const known = path === files.ids ? await idsIn(path, bytes) : null
      const file = await openLineFile(path, bytes)
      writers.set(path, known === null ? file : withoutKnown(file, known))
    }
    const total = await source.total()
    const start = {
      ...(resumed ?? beginning(run)),
      files: { ...note?.files, ...Object.fromEntries(kept) },
    }
    // The files are known for its own from here on, also where it is cut off in the first batch.
    if (!dryRun) await writeProgress(files.progress, start)
    const end = await allBatches(run, start, writers, progressTeller(run, total))
    return { ...end.tally, resumed: resumed !== null }
  } finally {
    for (const writer of writers.values()) await writer.close()
  }
}

interface EarlierProgress {
  /** The progress of the same import; null where there is none. */
  readonly note: Progress | null
  /** The progress of another import, which did not come to its end and which `--restart` throws away. */
  readonly discarded: Progress | null
}

const noProgress: EarlierProgress = { note: null, discarded: null }

async function earlierProgress(run: ImportRun): Promise<EarlierProgress> {
  const { source, surface, files, restart } = run
  const progress = await readProgress(files.progress)
  if (progress === null) return noProgress
  const isSame = progress.fingerprint === source.fingerprint && progress.surface === surface
  if (isSame) return { note: progress, discarded: null }
  if (isUnderWay(progress) && !restart) {
    throw new Refusal(
      `${files.progress} is the progress of another import, which did not come to its end: ${progress.fingerprint}, surface ${progress.surface}. Name another file with --progress, or start from the first row with --restart.`,
      2,
    )
  }
  return restart && !progress.finished ? { note: null, discarded: progress } : noProgress
}

/** One that came to its end begins again: users may have come since. */
const isUnderWay = ({ finished, cursor }: Progress) => !finished && cursor !== null

function beginning({ source, surface }: ImportRun): Progress {
  const { fingerprint } = source
  return { fingerprint, surface, cursor: null, finished: false, tally: noRows, files: {} }
}

async function allBatches(
  run: ImportRun,
  start: Progress,
  writers: ReadonlyMap<string, LineFile>,
  teller: (tally: Tally, isLast: boolean) => void,
): Promise<Progress> {
  let progress = start
  const seen = new Set<string>()
  while (!progress.finished) {
    const { rows, cursor } = await run.source.page(progress.cursor, run.batchSize)
    const results = await resultsOf(run, rows, seen)
    if (seen.size > mostSeen) seen.clear()
    const files: Record<string, number> = { ...progress.files }
    for (const [path, writer] of writers) {
      const lines = path === run.files.ids ? idLines(rows, results) : reportLines(rows, results)
      files[path] = await writer.append(lines)
    }
    const tally = added(progress.tally, rows, results)
    progress = { ...progress, cursor, finished: cursor === null, tally, files }
    if (!run.dryRun) await writeProgress(run.files.progress, progress)
    teller(tally, progress.finished)
  }
  return progress
}

type RowResult = ImportResult | Unreadable

interface Unreadable {
  readonly outcome: 'refused'
  readonly code: 'unreadable_row'
  readonly reason: string
}

const unreadable: Unreadable = {
  outcome: 'refused',
  code: 'unreadable_row',
  reason: 'No user can be made of the row.',
}

/** One for each row, in their order. */
async function resultsOf(
  { importUsers, allowRoles, dryRun }: ImportRun,
  rows: readonly SourceRow[],
  seen: Set<string>,
): Promise<readonly RowResult[]> {
  const users = rows.flatMap(({ user }) => (user === null ? [] : [user]))
  const { results } =
    users.length === 0 ? { results: [] } : await importUsers({ users, allowRoles, dryRun, seen })
  const answers = results[Symbol.iterator]()
  return rows.map(({ user }) => (user === null ? unreadable : (answers.next().value ?? unreadable)))
}

function reportLines(rows: readonly SourceRow[], results: readonly RowResult[]): readonly object[] {
  return rows.flatMap(({ key, notCarried }, at) => {
    const result = results[at]
    if (result === undefined) return []
    if (!isRefused(result) && !differs(result) && notCarried.length === 0) return []
    const why: { readonly notCarried?: readonly NotCarried[] } =
      notCarried.length > 0 ? { notCarried } : {}
    return [{ row: key, ...result, ...why }]
  })
}

function idLines(rows: readonly SourceRow[], results: readonly RowResult[]): readonly object[] {
  return rows.flatMap(({ key, oldId = key }, at) => {
    const result = results[at]
    // The account is perhaps another person's, to whom the host would give the rows of this one.
    const isKnown = result !== undefined && 'id' in result && !differs(result)
    return isKnown ? [{ from: oldId, to: result.id }] : []
  })
}

const isRefused = ({ outcome }: RowResult) => outcome === 'refused' || outcome === 'conflict'
const differs = (result: RowResult) => result.outcome === 'skipped' && result.emailDiffers

function added(tally: Tally, rows: readonly SourceRow[], results: readonly RowResult[]): Tally {
  const having = (...outcomes: readonly RowResult['outcome'][]) =>
    results.filter(({ outcome }) => outcomes.includes(outcome)).length
  const isPartly = ({ notCarried }: SourceRow, at: number) => {
    const result = results[at]
    return notCarried.length > 0 && result !== undefined && !isRefused(result)
  }
  return {
    rows: tally.rows + rows.length,
    created: tally.created + having('created', 'creatable'),
    skipped: tally.skipped + having('skipped'),
    emailDiffers: tally.emailDiffers + results.filter(differs).length,
    conflicts: tally.conflicts + having('conflict'),
    refused: tally.refused + having('refused'),
    partly: tally.partly + rows.filter(isPartly).length,
  }
}

/** At most a line a second, and one at the end. */
function progressTeller({ tell, now }: ImportRun, total: number | null) {
  const of = total === null ? '' : ` of ${count(total)}`
  let next = now() + tellEveryMs
  return ({ rows, created, skipped, conflicts, refused }: Tally, isLast: boolean): void => {
    if (!isLast && now() < next) return
    next = now() + tellEveryMs
    const parts = `${count(created)} created, ${count(skipped)} there already, ${count(conflicts)} in conflict, ${count(refused)} refused`
    tell(`${count(rows)}${of} rows: ${parts}`)
  }
}

function count(value: number): string {
  return value.toLocaleString('en')
}

/** A file of JSON lines that grows, and is cut back to what is known to be in it. */
export interface LineFile {
  readonly path: string
  /** Resolves with the bytes that the file then has, all of them on the disk. */
  append(lines: readonly object[]): Promise<number>
  close(): Promise<void>
}

/** Keeps the first `bytes` of the file, and drops what an interrupted run wrote after them. */
async function openLineFile(path: string, bytes: number): Promise<LineFile> {
  const file = await openOrMake(path)
  try {
    const { size } = await file.stat()
    let end = Math.min(size, bytes)
    await file.truncate(end)
    return {
      path,
      async append(lines) {
        if (lines.length === 0) return end
        const text = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
        await file.write(text, 0, text.length, end)
        await file.datasync()
        end += text.length
        return end
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** The last line of each `from`, by what stands before its `to`. */
export type KnownIds = ReadonlyMap<string, string>

/** The ids of the lines `{ from, to }` in the first `bytes` of the file. */
async function idsIn(path: string, bytes: number): Promise<KnownIds> {
  const ids = new Map<string, string>()
  if (bytes === 0) return ids
  const file = await open(path)
  try {
    const lines = file.readLines({ end: bytes - 1, autoClose: false })
    for await (const line of lines) ids.set(beforeTo(line), line)
  } finally {
    await file.close()
  }
  return ids
}

/** Appends no line that says what the last one with its `from` says. */
export function withoutKnown(file: LineFile, known: KnownIds): LineFile {
  const last = new Map(known)
  const isNew = (line: object) => {
    const text = JSON.stringify(line)
    if (last.get(beforeTo(text)) === text) return false
    last.set(beforeTo(text), text)
    return true
  }
  return { ...file, append: (lines) => file.append(lines.filter(isNew)) }
}

const beforeTo = (line: string) => line.slice(0, line.lastIndexOf(',"to":'))

async function openOrMake(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return open(path, 'wx+', 0o600)
    }
    throw error
  }
}
