import { type Run, sqlStateOf } from './client.js'
import { readColumns, refuseMissing, refuseOtherKinds } from './compare-columns.js'
import type { Place } from './options.js'
import { columnSteps, indexSteps, retiredSteps, type Step, tableStep } from './steps.js'
import { qualified, type SqlTable } from './table.js'

// Any number will do, as long as every replica of every version takes the same one.
const lock = 'perform pg_advisory_xact_lock(8098991079431)'

/** How long the requests on a table may stand behind a step that nothing needs. */
const longestLockWaitMs = 500

/**
 * Creates the tables, columns and indexes that the shapes need and that are missing; drops the indexes
 * that the shapes call retired, and nothing else. Each step is one statement. It takes a lock, notes the step in the journal and, if the step
 * was not noted before, carries it out. So replicas that start together do each step once, through a
 * pool as well as through a single connection, and a step that fails leaves nothing behind.
 */
export async function migrate(run: Run, tables: readonly SqlTable[], place: Place): Promise<void> {
  const journal = journalOf(place)
  await refusedSchema(() => run(journalBlock(journal, place)), place)
  let done = await stepsDone(run, journal)
  const found = await readColumns(run, tables)
  refuseOtherKinds(tables, found)
  const created = await perform(run, journal, tables.map(tableStep), done)
  // Another version may have created a table just now, with other columns.
  if (created > 0) done = await stepsDone(run, journal)
  const added = await perform(run, journal, tables.flatMap(columnSteps), done)
  const indexed = await perform(run, journal, tables.flatMap(indexSteps), done)
  await perform(run, journal, tables.flatMap(retiredSteps), done)
  const changed = created + added + indexed > 0
  refuseMissing(tables, changed ? await readColumns(run, tables) : found)
}

export function journalOf(place: Place): string {
  return qualified(`${place.tablePrefix}postern_migrations`, place)
}

export const createSchema = ({ schema }: Place): string => `create schema "${schema}"`

/** Says what a role needs that may not create. */
async function refusedSchema(work: () => Promise<unknown>, { schema }: Place): Promise<void> {
  try {
    await work()
  } catch (cause) {
    if (sqlStateOf(cause) !== '42501') throw cause
    throw new Error(
      `postgres: this role may not create the schema "${schema}", or nothing in it; let an owner of the ` +
        `database run: create schema "${schema}" authorization <this role>`,
      { cause },
    )
  }
}

/** Asks before it creates, so that a role which may create nothing can start once all is there. */
function journalBlock(journal: string, place: Place): string {
  return (
    `do $postern$ begin ${lock}; ` +
    `if to_regnamespace('"${place.schema}"') is null then ${createSchema(place)}; end if; ` +
    `if to_regclass('${journal}') is null then create table ${journal} ` +
    `("number" bigint generated always as identity primary key, "step" text not null unique); ` +
    `end if; end $postern$`
  )
}

/** Runs those of the steps that are not done; how many there were. */
async function perform(
  run: Run,
  journal: string,
  steps: readonly Step[],
  done: ReadonlySet<string>,
): Promise<number> {
  const pending = steps.filter(({ name }) => !done.has(name))
  for (const step of pending) {
    try {
      await run(stepBlock(journal, step))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(`postgres: migration step "${step.name}" failed: ${why}`, { cause: error })
    }
  }
  return pending.length
}

/**
 * Noting comes first: the unique step name decides which replica carries it out. A statement that waits for
 * its lock has all later ones of the table wait behind it, which an optional step is not worth.
 */
function stepBlock(journal: string, { name, covers, ddl, optional }: Step): string {
  const note = (step: string) =>
    `insert into ${journal} ("step") values ('${step}') on conflict do nothing; `
  const [patience, leave] = optional
    ? [
        `perform set_config('lock_timeout', '${longestLockWaitMs}', true); `,
        `exception when lock_not_available or insufficient_privilege then null; `,
      ]
    : ['', '']
  return (
    `do $postern$ begin ${lock}; ${note(name)}` +
    `if found then ${patience}${ddl}; ${covers.map(note).join('')}end if; ${leave}end $postern$`
  )
}

export async function stepsDone(run: Run, journal: string): Promise<ReadonlySet<string>> {
  const rows = await run(`select "step" from ${journal}`)
  return new Set(rows.map((row) => String(row['step'])))
}
