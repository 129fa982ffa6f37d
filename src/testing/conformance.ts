import type { Backend } from '../ports/backend.js'
import { counterAddScripts, counterScripts } from './counter-cases.js'
import { type CrashingBackend, crashScripts } from './crash-cases.js'
import { denylistScripts } from './denylist-cases.js'
import { type BreakableBackend, failureScripts } from './failure-cases.js'
import {
  type InterleavedBackend,
  type InterleavingOptions,
  interleavingScripts,
} from './interleavings/interleaving-cases.js'
import { leaseScripts } from './lease-cases.js'
import { type LossyBackend, lostAnswerScripts } from './lost-answer-cases.js'
import { processScripts } from './process-cases.js'
import {
  type CaseScript,
  type ConformanceCase,
  caseOf,
  NotOffered,
} from './shared/conformance-case.js'
import { type Driver, driverControl } from './shared/driver-control.js'
import { storeScripts } from './store-cases.js'

/** The backend for one case. */
export interface OpenedBackend {
  /** It need not be empty: a case uses collections, ids and keys that no other run has used. */
  readonly backend: Backend
  /**
   * Makes every later call fail as in an outage, for a client that cannot pass `through`. Then `lost answers`,
   * `crashes` and `interleavings` are skipped. Without it, the kit discards every answer that passes `through`.
   */
  breakBackend?(): void | Promise<void>
  /**
   * Opens another adapter on the same database, as a second process does. Without it, the kit calls `open` a second
   * time: give it where each `open` makes a database of its own. `close` closes both.
   */
  openAgain?(): Backend | Promise<Backend>
  /** Called after the case, also after a failure. */
  close?(): void | Promise<void>
}

/** The options of `conformance`. */
export interface ConformanceOptions {
  /**
   * Opens a backend for each case. Pass the adapter its client through `through`, so that the kit can
   * interleave parallel calls step by step and break the connection. The races need a pool, not a
   * single connection. A driver without promises carries out one call after another: there the group
   * `races` always passes, and only several processes show the database's locks. The group
   * `interleavings` works there as well.
   */
  open(driver: Driver): OpenedBackend | Promise<OpenedBackend>
  /** Cases or whole groups that cannot run, by name, each with the reason. */
  readonly skip?: Readonly<Record<string, string>>
  /** How many `interleavings` to play, how long they wait, or which one to play again. */
  readonly interleavings?: InterleavingOptions
  /** The `timeout` of each case. Default 90,000. */
  readonly timeout?: number
}

/** A case for any test runner. */
export interface ListedCase extends ConformanceCase {
  /** The reason to skip it; false for a case to run. */
  readonly skip: string | false
}

type Play = (subject: Subject) => Promise<void>

/** All that the cases of the different groups need. */
interface Subject extends LossyBackend, BreakableBackend, InterleavedBackend, CrashingBackend {}

const scripts: readonly CaseScript<Subject>[] = [
  ...storeScripts,
  ...denylistScripts,
  ...leaseScripts,
  ...counterScripts,
  ...counterAddScripts,
  ...processScripts,
  ...failureScripts,
  ...lostAnswerScripts,
  ...crashScripts,
  ...interleavingScripts,
]

/**
 * The cases that a store adapter must pass. Each shows one promise of the ports, uses `node:assert`
 * and runs in any test runner. Cases are independent and may run in parallel. Throws a `TypeError`
 * when `skip` names an unknown case or group, or gives no reason.
 *
 * @example
 * import { test } from 'node:test'
 * import pg from 'pg'
 * import { postgres } from 'postern/postgres'
 * import { conformance } from 'postern/testing'
 *
 * const pool = new pg.Pool()
 * const cases = conformance({
 *   open: ({ through }) => ({ backend: postgres(through(pool)) }),
 *   skip: { 'prepare by eight at once works': 'tables are made by hand before a release' },
 * })
 * for (const { name, skip, timeout, run } of cases) test(name, { skip, timeout }, run)
 * // With Vitest: test.skipIf(skip)(name, run, timeout)
 */
export function conformance(options: ConformanceOptions): readonly ListedCase[] {
  const cases = scripts.map((script) => {
    return caseOf(script, (play: Play) => opened(options, script.group, play))
  })
  const reasons = skipReasons(cases, options.skip ?? {})
  return cases.map((one) => {
    return { ...one, timeout: options.timeout ?? one.timeout, skip: reasons.get(one.name) ?? false }
  })
}

async function opened(
  { open, interleavings = {} }: ConformanceOptions,
  group: string,
  play: Play,
): Promise<void> {
  const driver = driverControl()
  const first = await open(driver)
  const opened = [first]
  try {
    await play({
      backend: first.backend,
      driver,
      interleavings,
      loseNextAnswer: () => driver.loseNextAnswer(),
      breakBackend: () => (first.breakBackend ? first.breakBackend() : driver.cut()),
      async again() {
        if (first.openAgain) return first.openAgain()
        const second = await open(driver)
        opened.push(second)
        return second.backend
      },
    })
  } catch (error) {
    throw (driver.answers === 0 && withoutDriver(group, first)) || error
  } finally {
    for (const one of opened.reverse()) await one.close?.()
  }
}

/** What became of a case of the driver whose backend made no call that passed `through`. */
function withoutDriver(group: string, { breakBackend }: OpenedBackend): Error | null {
  const able: Readonly<Record<string, string>> = {
    failures: 'break the connection',
    'lost answers': 'lose an answer',
    crashes: 'cut the adapter off',
    interleavings: 'interleave its calls',
  }
  const what = able[group]
  if (what === undefined || (breakBackend && group === 'failures')) return null
  const why = `nothing passed \`through\`, so the kit cannot ${what}`
  if (breakBackend) return new NotOffered(why)
  const remedy = 'give the adapter its client by way of `through`, return `breakBackend`, or skip'
  return new TypeError(`open: ${why}; ${remedy} "${group}" with a reason`)
}

/**
 * The written reason for each skipped case, by its name. `skip` names cases or whole groups; a
 * name that is neither, or an empty reason, throws a `TypeError`: a skip must not outlive its case,
 * nor its reason.
 */
function skipReasons(
  cases: readonly ConformanceCase[],
  skip: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  for (const [named, reason] of Object.entries(skip)) {
    const meant = cases.filter(({ name, group }) => name === named || group === named)
    if (meant.length === 0) {
      const groups = [...new Set(cases.map(({ group }) => group))].join(', ')
      throw new TypeError(`skip: "${named}" is neither a case nor a group (groups: ${groups})`)
    }
    if (typeof reason !== 'string' || reason.trim() === '') {
      throw new TypeError(`skip: "${named}" needs a written reason, such as why it cannot hold`)
    }
    for (const { name } of meant) reasons.set(name, reason)
  }
  return reasons
}
