import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Refusal } from '../../frame/refusal.js'
import type { Progress } from './progress-file.js'

/** Where a dry run reports unless the call says another file. A dry run replaces what an earlier one left there. */
export const dryRunReport = 'postern-import-dry-run.jsonl'

interface Begun {
  readonly files: { readonly report: string; readonly ids: string | null }
  readonly dryRun: boolean
  /** The progress of the same import, at its end or not; null where there is none. */
  readonly note: Progress | null
  /** The progress of another import, of which nothing stays. */
  readonly discarded: Progress | null
  /** Whether the run goes on after the rows that the note counts. */
  readonly isResumed: boolean
}

/**
 * How much stays of each file that the run writes, by its path. Throws `Refusal` for a file that holds anything which
 * this import did not write: it would be cut.
 */
export async function keptBytes(begun: Begun): Promise<ReadonlyMap<string, number>> {
  const { report, ids } = begun.files
  const kept = new Map([[report, await keptOf(report, '--report', begun)]])
  if (ids !== null && !begun.dryRun) kept.set(ids, await keptOf(ids, '--ids', begun))
  return kept
}

async function keptOf(path: string, flag: '--report' | '--ids', begun: Begun): Promise<number> {
  const size = await sizeOf(path)
  if (size === 0 || (begun.dryRun && basename(path) === dryRunReport)) return 0
  if (ownBytes(path, size, begun.discarded) !== null) return 0
  const bytes = ownBytes(path, size, begun.note)
  if (bytes === null) {
    const why = begun.dryRun
      ? `${path} is not empty, and a dry run replaces only ${dryRunReport}.`
      : `${path} holds what this import did not write, and stays as it is.`
    throw new Refusal(`${why} Name another file with ${flag}, or move this one away.`, 2)
  }
  // A report is of one run. The new ids of the users before are needed after the next run too.
  return begun.isResumed || flag === '--ids' ? bytes : 0
}

/** Null for a file that is none of the import. A run that was cut off may have written more than its note says. */
function ownBytes(path: string, size: number, note: Progress | null): number | null {
  const bytes = note?.files[path]
  if (note === null || bytes === undefined) return null
  const isOwn = note.finished ? size === bytes : size >= bytes
  return isOwn ? bytes : null
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw error
  }
}
