import type { Backend } from '../ports/backend.js'
import type { Finding, Inspection } from '../ports/inspection.js'
import type { AnyCollectionSpec, MigrationStep } from '../ports/store.js'

/** As many names as a person reads. */
const mostNamed = 5

/** What the databases behind the four ports tell of themselves, each once. Rejects where one does not answer. */
export async function inspectionsOf(
  { store, denylist, lease, counter }: Backend,
  specs: readonly AnyCollectionSpec[],
): Promise<readonly Inspection[]> {
  const found = await Promise.all([
    store.inspect?.(specs),
    ...[denylist, lease, counter].map((port) => port.inspect?.()),
  ])
  const all = found.flatMap((inspections) => inspections ?? [])
  // The ports of one backend tell the same, and the store the most.
  const first = new Map<string, Inspection>()
  for (const one of all) {
    const key = JSON.stringify([one.name, one.problems])
    if (!first.has(key)) first.set(key, one)
  }
  return [...first.values()]
}

export function inspectionFindings(inspections: readonly Inspection[]): readonly Finding[] {
  const problems = inspections.flatMap((one) => one.problems)
  const check = { schema: 'database', durability: 'durability' } as const
  const findings = problems.map(({ kind, problem, remedy }) => {
    return { check: check[kind], problem, remedy }
  })
  return [...new Map(findings.map((one) => [one.problem, one])).values()]
}

/** What a migration would do, or refuse. None for a store that shows no plan. */
export async function planFindings(
  { store }: Backend,
  specs: readonly AnyCollectionSpec[],
): Promise<readonly Finding[]> {
  const check = 'database'
  try {
    const steps = (await store.plan?.(specs)) ?? []
    if (steps.length === 0) return []
    const problem = `The database is behind this version by ${steps.length} steps: ${named(steps)}.`
    return [{ check, problem, remedy: 'Run postern migrate --apply, or call auth.migrate().' }]
  } catch (error) {
    const problem = `The database is not as this version needs it. ${messageOf(error)}`
    return [{ check, problem, remedy: 'auth.migrate() rejects with the same; mend it first.' }]
  }
}

function named(steps: readonly MigrationStep[]): string {
  const names = steps.slice(0, mostNamed).map(({ name }) => name)
  return steps.length > mostNamed ? `${names.join(', ')}, …` : names.join(', ')
}

interface Times {
  /** Epoch milliseconds of this process before and after the databases were asked. */
  readonly before: number
  readonly after: number
  /** Milliseconds that are allowed. */
  readonly leeway: number
}

/** The library trusts no clock of a database; a difference shows that one of the two machines is wrong. */
export function clockFindings(
  inspections: readonly Inspection[],
  { before, after, leeway }: Times,
): readonly Finding[] {
  return inspections.flatMap(({ name, now }): Finding[] => {
    if (now === null || (now >= before - leeway && now <= after + leeway)) return []
    const ahead = now < before
    const seconds = ((ahead ? before - now : now - after) / 1000).toFixed(1)
    const direction = ahead ? 'ahead of' : 'behind'
    return [
      {
        check: 'clock',
        problem: `The clock of this machine is ${seconds} seconds ${direction} that of ${name}. Tokens, links and one-time codes end too early or too late where clocks differ.`,
        remedy: 'Let both machines keep time by NTP.',
      },
    ]
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
