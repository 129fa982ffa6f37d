import type { Backend } from '../ports/backend.js'
import { counterScripts } from './counter-cases.js'
import { denylistScripts } from './denylist-cases.js'
import { type BreakableBackend, failureScripts } from './failure-cases.js'
import {
  type InterleavedBackend,
  type InterleavingOptions,
  interleavingScripts,
} from './interleavings/interleaving-cases.js'
import { leaseScripts } from './lease-cases.js'
import { type LossyBackend, lostAnswerScripts } from './lost-answer-cases.js'
import { type CaseScript, type ConformanceCase, caseOf } from './shared/conformance-case.js'
import { type Driver, type DriverControl, driverControl } from './shared/driver-control.js'
import { skipReasons } from './skip-reasons.js'
import { storeScripts } from './store-cases.js'

/** A backend to run one case on. */
export interface OpenedBackend {
  /** It need not be empty: a case uses collections, ids and keys that no other run has used. */
  readonly backend: Backend
  /**
   * Makes every call from now on fail as in an outage. Without it the kit loses every answer that
   * passes `through`.
   */
  breakBackend?(): void | Promise<void>
  /** Called after the case, also when it failed. */
  close?(): void | Promise<void>
}

export interface ConformanceOptions {
  /**
   * Opens a backend, once a case. Give the adapter its client by way of `through`, so that the kit
   * can interleave its racers step by step, and break its connection. For the races to mean
   * anything give a pool, not a single connection. A driver without promises carries out one call
   * after another: there the group `races` passes whatever the adapter does, and the database's
   * locks are shown only by several processes. The `interleavings` hold there as well.
   */
  open(driver: Driver): OpenedBackend | Promise<OpenedBackend>
  /** Why a case, or a whole group of them, cannot be run: names to written reasons. */
  readonly skip?: Readonly<Record<string, string>>
  /** How far to go with the `interleavings`, or which one to play again. */
  readonly interleavings?: InterleavingOptions
}

/** A case to hand to any test runner. */
export interface ListedCase extends ConformanceCase {
  /** The written reason for which it is to be skipped; false when it is to be run. */
  readonly skip: string | false
}

/** All that the cases of the different groups need. */
interface Subject extends LossyBackend, BreakableBackend, InterleavedBackend {}

const scripts: readonly CaseScript<Subject>[] = [
  ...storeScripts,
  ...denylistScripts,
  ...leaseScripts,
  ...counterScripts,
  ...failureScripts,
  ...lostAnswerScripts,
  ...interleavingScripts,
]

/**
 * Every case a storage adapter must pass to serve the library: one promise of the ports each, on
 * `node:assert`, for any runner. Cases do not depend on each other and may run at the same time.
 * Throws a `TypeError` when `skip` names what is no case and no group, or gives no reason.
 *
 * @example With `node:test`
 * const cases = conformance({
 *   open: ({ through }) => ({ backend: myBackend(through(pool)) }),
 *   skip: { 'prepare by eight at once works': 'tables are made by hand before a release' },
 * })
 * for (const { name, skip, run } of cases) test(name, { skip }, run)
 *
 * @example With Vitest
 * for (const { name, skip, run } of cases) test.skipIf(skip)(name, run)
 */
export function conformance(options: ConformanceOptions): readonly ListedCase[] {
  const cases = scripts.map((script) => {
    return caseOf(script, (play: (subject: Subject) => Promise<void>) => opened(options, play))
  })
  const reasons = skipReasons(cases, options.skip ?? {})
  return cases.map((one) => ({ ...one, skip: reasons.get(one.name) ?? false }))
}

async function opened(
  { open, interleavings = {} }: ConformanceOptions,
  play: (subject: Subject) => Promise<void>,
): Promise<void> {
  const driver = driverControl()
  const { backend, breakBackend, close } = await open(driver)
  try {
    await play({
      backend,
      driver,
      interleavings,
      loseNextAnswer: () => driver.loseNextAnswer(),
      breakBackend: breakBackend ?? (() => cut(driver)),
    })
  } finally {
    await close?.()
  }
}

function cut(driver: DriverControl): void {
  if (driver.answers === 0) {
    throw new TypeError(
      'open: nothing passed `through`, so the kit cannot break the connection; give the adapter ' +
        'its client by way of `through`, return `breakBackend`, or skip "failures" with a reason',
    )
  }
  driver.cut()
}
