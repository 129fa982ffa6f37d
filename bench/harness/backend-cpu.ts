import { readFileSync } from 'node:fs'
import { onDatabase } from '../../test/support/stores/postgres.js'

/**
 * Microseconds of processor time that the connections of a database have had. NaN where the server runs
 * on another machine, or as processes that this one cannot look at.
 */
export async function backendCpu(url: string): Promise<number> {
  const pids = await onDatabase(url, async (client) => {
    const { rows } = await client.query(
      `select pid from pg_stat_activity where datname = current_database()
        and pid <> pg_backend_pid() and backend_type = 'client backend'`,
    )
    return rows.map(({ pid }) => Number(pid))
  })
  try {
    return pids.map(runTime).reduce((sum, time) => sum + time, 0)
  } catch {
    return Number.NaN
  }
}

/** The first figure of the kernel's scheduler about a process: nanoseconds on a processor. */
function runTime(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
}
