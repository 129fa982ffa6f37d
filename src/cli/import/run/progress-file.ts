import { open, readFile, rename } from 'node:fs/promises'
import { Refusal } from '../../frame/refusal.js'

/** What became of the rows until now. */
export interface Tally {
  readonly rows: number
  readonly created: number
  readonly skipped: number
  /** Of those: accounts with another address than their row. */
  readonly emailDiffers: number
  readonly conflicts: number
  readonly refused: number
  /** Accounts of which something was left behind. */
  readonly partly: number
}

export interface Progress {
  readonly fingerprint: string
  readonly surface: string
  /** Where the next page starts; null before the first and after the last. */
  readonly cursor: string | null
  readonly finished: boolean
  readonly tally: Tally
  /** Bytes of each file that belong to the rows before the cursor, by its path. */
  readonly files: Readonly<Record<string, number>>
}

export const noRows: Tally = {
  ...{ rows: 0, created: 0, skipped: 0, emailDiffers: 0, conflicts: 0, refused: 0, partly: 0 },
}

/** Null where there is no file. Throws `Refusal` for a file that holds something else. */
export async function readProgress(path: string): Promise<Progress | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const read = parsed(text)
  // Earlier versions did not count these accounts.
  if (isProgress(read)) return { ...read, tally: { ...noRows, ...read.tally } }
  throw new Refusal(`${path} is no progress of an import. Name another file with --progress.`, 2)
}

/**
 * The file holds the progress before or the progress after, whenever the process or the machine stops: a rename
 * replaces it at once, and what it names is on the disk by then.
 */
export async function writeProgress(path: string, progress: Progress): Promise<void> {
  const fresh = `${path}.new`
  const file = await open(fresh, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(progress, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(fresh, path)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isProgress(value: unknown): value is Progress {
  if (typeof value !== 'object' || value === null) return false
  const { fingerprint, surface, cursor, finished, tally, files }: Partial<Progress> = value
  return (
    typeof fingerprint === 'string' &&
    typeof surface === 'string' &&
    (cursor === null || typeof cursor === 'string') &&
    typeof finished === 'boolean' &&
    areCounts(tally, ['rows', 'created', 'skipped', 'conflicts', 'refused', 'partly']) &&
    areCounts(files, [])
  )
}

function areCounts(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  const counts = new Map<string, unknown>(Object.entries(value))
  return names.every((name) => counts.has(name)) && [...counts.values()].every(Number.isSafeInteger)
}
