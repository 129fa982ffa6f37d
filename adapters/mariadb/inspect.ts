import type { Inspection } from '../../src/ports/inspection.js'
import type { SqlRun } from '../sql/index.js'

/** What was found, with the server's clock. What the schema lacks is a step of the plan, which looks at the tables. */
export async function withClock(
  run: SqlRun,
  found: readonly Inspection[],
): Promise<readonly Inspection[]> {
  const [[now] = []] = await run('select floor(unix_timestamp(now(3)) * 1000)', [])
  return found.map((one) => ({ ...one, now: Number(now) }))
}
