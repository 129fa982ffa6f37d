import { AssertionError } from 'node:assert/strict'
import type { Backend } from '../../ports/backend.js'

/** What a test runner hands to a test, as `node:test` and Vitest do. */
export interface RunningTest {
  /** Marks the test that runs as skipped. */
  skip?(reason: string): void
}

/** A case that shows one promise of a port. `run` rejects with the reason when it is broken. */
export interface ConformanceCase {
  readonly name: string
  /** The group of the case, such as `guards` or `lease`. */
  readonly group: string
  /** The promise of the port that a failure breaks. */
  readonly promise: string
  /**
   * Milliseconds to give the case, which is far more than one should take. Many test runners allow five seconds by
   * default: too little for interleavings of a store that takes locks, since the kit waits to see who is blocked.
   */
  readonly timeout: number
  /**
   * Plays the case. One about an optional method does nothing on a backend without that method. Given
   * what the test runner hands to a test, it tells the runner then that it is skipped, and why.
   */
  run(test?: RunningTest): Promise<void>
}

const caseTimeoutMs = 90_000

/** Thrown by a case about what the backend does not have: an optional method, or a client that passes `through`. */
export class NotOffered extends Error {}

/**
 * Opens a backend for one case. It need not be empty: a case uses collections, ids and keys under
 * names that no other run has used.
 */
export type MakeBackend = () => Promise<Backend>

/** What the cases of most groups are played on. */
export interface BackendSubject {
  readonly backend: Backend
}

/** A case that has not been given anything to be played on yet. */
export interface CaseScript<Subject> {
  readonly name: string
  readonly group: string
  readonly promise: string
  play(subject: Subject): Promise<void>
}

/** Cases that show one promise and start from the same set-up. */
export interface CaseGroup<Subject, Setup> {
  readonly group: string
  readonly promise: string
  readonly scripts: Scripts<Setup>
  setUp(subject: Subject): Promise<Setup>
}

export type Scripts<Setup> = Readonly<Record<string, (setup: Setup) => Promise<void>>>

export function scriptsOf<Subject, Setup>({
  group,
  promise,
  scripts,
  setUp,
}: CaseGroup<Subject, Setup>): readonly CaseScript<Subject>[] {
  return Object.entries(scripts).map(([name, script]) => {
    return { name, group, promise, play: async (subject) => script(await setUp(subject)) }
  })
}

/** The case that plays `script` on a new subject at every run. */
export function caseOf<Subject>(
  script: CaseScript<Subject>,
  withSubject: (play: (subject: Subject) => Promise<void>) => Promise<void>,
): ConformanceCase {
  const { name, group, promise } = script
  const run = async (running: RunningTest = {}) => {
    try {
      await withSubject((subject) => script.play(subject))
    } catch (error) {
      if (!(error instanceof NotOffered)) throw brokenPromise(script, error)
      // The runner is told what is left out.
      running.skip?.(error.message)
    }
  }
  return { name, group, promise, timeout: caseTimeoutMs, run }
}

/** The cases on backends that `make` gives. */
export function casesOf(
  scripts: readonly CaseScript<BackendSubject>[],
  make: MakeBackend,
): readonly ConformanceCase[] {
  return scripts.map((script) => {
    return caseOf(script, async (play) => play({ backend: await make() }))
  })
}

/** The failure, with the promise it breaks before it; runners still show what differed. */
function brokenPromise({ name, promise }: CaseScript<never>, cause: unknown): Error {
  const told = cause instanceof Error ? cause : new Error(String(cause))
  const compared = told instanceof AssertionError ? told : null
  const what = compared ? told.message : `${told.name}: ${told.message}`
  return failureLike(compared ?? told, `${what}\n  case: ${name}\n  promise: ${promise}`)
}

/** Another message for a failure; what was compared stays, for runners that show a difference. */
export function failureLike(cause: Error, message: string): Error {
  const error = new AssertionError({ message })
  if (!(cause instanceof AssertionError)) return Object.assign(error, { cause })
  const { actual, expected, operator } = cause
  return Object.assign(error, { actual, expected, operator, cause })
}

/** Letters and digits that no other case, run or process has. */
export function uniqueName(): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, 20)
}

/** What `count` calls started together give, in the order they were started. */
export function race<R>(count: number, call: (racer: number) => Promise<R>): Promise<R[]> {
  return Promise.all(Array.from({ length: count }, (_, racer) => call(racer)))
}

/** Races are repeated, since an adapter that is wrong may win one by luck. */
export async function rounds(play: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < 5; round++) await play(round)
}
