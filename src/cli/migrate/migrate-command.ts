import type { AuthOptions, MigrationStep } from 'postern'
import { allCollectionSpecs } from 'postern/stores'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { withAuth } from '../frame/with-auth.js'

/** As many writes of a table as may wait for a step without a word. */
const mostBlocked = 100_000

export const migrateCommand: Command = {
  help: `Usage: postern migrate [--apply] [--blocking]

Shows what the database lacks for this version, and changes nothing. A
migration creates tables, columns and indexes, and drops indexes that no version
needs any more. It drops and changes no data, and processes of the version
before go on.

  --apply     carries it out, as auth.migrate() does, and stores the first
              values of the settings. It may be repeated and interrupted
  --blocking  with --apply: also a step for which the writes of a table with
              more than 100,000 rows wait, such as an index. Without it, such a
              step is refused before anything is done

Exit code 0: nothing is left to do. 1: there are steps, or one was refused.`,
  flags: { apply: { type: 'boolean' }, blocking: { type: 'boolean' } },
  async run(call) {
    const options = await call.config()
    const steps = await planOf(options)
    if (call.flags['apply'] !== true) return show(call, steps)
    const blocking = (steps ?? []).filter(({ blocks }) => (blocks ?? 0) > mostBlocked)
    if (blocking.length > 0 && call.flags['blocking'] !== true) {
      const names = blocking.map(({ name, blocks }) => `${name} (about ${blocks} rows)`)
      throw new Refusal(
        `Writes of these tables would wait: ${names.join(', ')}. Nothing was done. Choose a quiet hour and add --blocking, or create the index yourself, concurrently, under its name.`,
      )
    }
    for (const line of toDo(steps ?? [])) call.err(`to do: ${line}`)
    await withAuth(call, options, (auth) => auth.migrate())
    const done = (steps ?? []).map(({ name }) => name)
    call.out(call.json ? JSON.stringify({ done }) : 'Done. The database is ready.')
    return 0
  },
}

/** Null where the store shows no plan. */
async function planOf(options: AuthOptions): Promise<readonly MigrationStep[] | null> {
  const { backend, collectionPrefix = '' } = options
  const given: Partial<AuthOptions['surfaces']> = options.surfaces
  const surfaces = (['operator', 'client'] as const).filter((name) => given[name] !== undefined)
  return backend.store.plan?.(allCollectionSpecs(collectionPrefix, surfaces)) ?? null
}

function show(call: Call, steps: readonly MigrationStep[] | null): number {
  if (steps === null) {
    throw new Refusal('This store shows no plan. postern migrate --apply prepares it all the same.')
  }
  if (call.json) call.out(JSON.stringify({ steps }))
  else if (steps.length === 0) call.out('Nothing to do. The database is ready.')
  else for (const step of steps) call.out(lineOf(step))
  return steps.length === 0 ? 0 : 1
}

/** Each step, or how many there are of each kind: the first migration has more than a hundred. */
function toDo(steps: readonly MigrationStep[]): readonly string[] {
  if (steps.length <= 10) return steps.map(({ name }) => name)
  const kinds = steps.map(({ name }) => name.split('/')[1] ?? name)
  return [...new Set(kinds)].map(
    (kind) => `${kind}, ${kinds.filter((other) => other === kind).length} times`,
  )
}

function lineOf({ name, statement, blocks }: MigrationStep): string {
  const waiting = blocks === null || blocks > 0 ? '  -- writes of the table wait meanwhile' : ''
  const rows = blocks === null || blocks === 0 ? '' : `, about ${blocks} rows`
  return `${name}${waiting}${rows}${statement === null ? '' : `\n    ${statement}`}`
}
