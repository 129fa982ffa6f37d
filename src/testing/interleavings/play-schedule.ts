import { AsyncLocalStorage } from 'node:async_hooks'
import type { DriverControl } from '../shared/driver-control.js'
import type { DriverCall, Interceptor } from '../shared/through.js'

/** One of the calls of the port that race. */
export interface Racer {
  /** What it does, for people to read: `update(a, { count: 0 }, { count: 1 })`. */
  readonly call: string
  run(): Promise<unknown>
}

export type Outcome = { readonly answer: unknown } | { readonly failure: unknown }

/** A moment at which more than one racer could go on. */
export interface Decision {
  /** The racers that could; the one that was going on, if it could, comes first. */
  readonly options: readonly number[]
  readonly picked: number
  /** Whether another choice than the first takes the turn from a racer that could go on. */
  readonly isPreemptive: boolean
}

/** Picks the position of one of the options. */
export type Choose = (options: readonly number[], isPreemptive: boolean) => number

export interface Played {
  readonly decisions: readonly Decision[]
  readonly outcomes: readonly Outcome[]
  /** The driver's calls in the order they were made, `A: query(…) → …`. */
  readonly trace: readonly string[]
}

/** How long a schedule waits, in milliseconds. */
export interface WaitOptions {
  /**
   * A command that is not answered for so long is taken to wait for another racer's lock. Default 100; more where
   * the database is far away.
   */
  readonly patience?: number
  /** When no racer can go on and nothing has changed for so long, nothing ever will: the case fails. Default 15,000. */
  readonly stuck?: number
}

/** Turns of the event loop a racer is given to make its next call. */
const idleTurns = 20

interface Runner {
  readonly letter: string
  readonly run: () => Promise<unknown>
  /** Lets go of answers that have come, in order. */
  readonly held: (() => void)[]
  started: boolean
  inFlight: number
  outcome: Outcome | null
}

/** The letter a racer has in schedules and traces. */
export function letterOf(racer: number): string {
  return String.fromCharCode(65 + racer)
}

/**
 * Runs the racers so that only one at a time goes on, from one answer of its driver to the next,
 * and `choose` says which. A driver's call takes effect as it is made; it is its answer that waits,
 * so a racer stands still between any two steps of its own.
 */
export async function playSchedule(
  driver: DriverControl,
  racers: readonly Racer[],
  choose: Choose,
  { patience = 100, stuck = 15_000 }: WaitOptions = {},
): Promise<Played> {
  const current = new AsyncLocalStorage<Runner>()
  const signal = changeSignal()
  const trace: string[] = []
  const decisions: Decision[] = []
  let last: Runner | null = null
  const runners = racers.map(({ run }, at): Runner => {
    return { letter: letterOf(at), run, held: [], started: false, inFlight: 0, outcome: null }
  })

  function pick(able: readonly Runner[]): Runner | null {
    const goesOn = last !== null && able.includes(last)
    const ordered = goesOn && last ? [last, ...able.filter((one) => one !== last)] : able
    const options = ordered.map((one) => runners.indexOf(one))
    const wanted = choose(options, goesOn)
    const picked = Math.max(0, Math.min(wanted, options.length - 1))
    decisions.push({ options, picked, isPreemptive: goesOn })
    return ordered[picked] ?? null
  }

  function start(runner: Runner): void {
    runner.started = true
    void current.run(runner, async () => {
      runner.outcome = await outcomeOf(runner.run)
      signal.tell()
    })
  }

  function goOn(runner: Runner): void {
    last = runner
    if (runner.started) runner.held.shift()?.()
    else start(runner)
  }

  const hand: Interceptor = {
    before: () => null,
    async later(call, answer) {
      const runner = current.getStore()
      if (!runner || runner.outcome) return answer
      const line = trace.push(`${runner.letter}: ${describeCall(call)}`) - 1
      // What runs inside a scope is steps of its own; the scope itself would never come to rest.
      runner.inFlight += call.isScope ? 0 : 1
      const settled = await answer.then(
        (value) => ({ value, told: shapeOf(value) }),
        (error: unknown) => ({ error, told: `rejected: ${nameOf(error)}` }),
      )
      trace[line] += ` → ${settled.told}`
      await new Promise<void>((release) => {
        runner.held.push(release)
        runner.inFlight -= call.isScope ? 0 : 1
        signal.tell()
      })
      if ('error' in settled) throw settled.error
      return settled.value
    },
    atOnce(call, answer) {
      const runner = current.getStore()
      if (!runner || runner.outcome) return
      trace.push(`${runner.letter}: ${describeCall(call)} → ${shapeOf(answer)}`)
      if (runner.inFlight > 0 || holdsTransaction(call)) return
      // A driver without promises cannot be made to wait: the other racer runs inside of its step.
      last = runner
      const waiting = runners.filter((one) => !one.started)
      const next = waiting.length > 0 ? pick([runner, ...waiting]) : null
      if (next && next !== runner) start(next)
    },
  }

  async function rest(runner: Runner): Promise<void> {
    for (let idle = 0; idle < idleTurns; ) {
      if (runner.outcome || (runner.held.length > 0 && runner.inFlight === 0)) return
      if (runner.inFlight === 0) {
        idle += 1
        await turn()
      } else if (!(await signal.within(patience))) return
    }
  }

  const release = driver.intercept(hand)
  try {
    while (runners.some(({ outcome }) => outcome === null)) {
      const able = runners.filter((one) => !one.started || one.held.length > 0)
      const next = able.length > 0 ? pick(able) : null
      if (next) {
        goOn(next)
        await rest(next)
      } else if (!(await signal.within(stuck))) {
        throw new Error(`no racer goes on: ${trace.join('; ')}`)
      }
    }
  } finally {
    release()
    for (const { held } of runners) for (const letGo of held) letGo()
  }
  return { decisions, trace, outcomes: runners.flatMap(({ outcome }) => outcome ?? []) }
}

/** SQLite's handles tell it. Other writers wait until the transaction ends. */
function holdsTransaction({ client }: DriverCall): boolean {
  return ['isTransaction', 'inTransaction'].some((name) => Reflect.get(client, name) === true)
}

async function outcomeOf(run: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { answer: await run() }
  } catch (failure) {
    return { failure }
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Told of changes, and waited for by one at a time. */
function changeSignal() {
  let wake: (() => void) | null = null
  let changed = false
  return {
    tell(): void {
      changed = true
      wake?.()
    },
    /** True once there has been a change since the last look, false when none came in time. */
    async within(ms: number): Promise<boolean> {
      if (!changed) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      wake = null
      const was = changed
      changed = false
      return was
    },
  }
}

/** How a statement, a script or a command's name begins; keys and values look different. */
const statements =
  /^\s*(--|\(|select|insert|update|delete|with|merge|replace|begin|start|commit|rollback|savepoint|release|set|local|return|if)\b/i
const commandName = /^[A-Z]{2,16}$/
const longest = 160
const mostFields = 5
const mostOfResult = 20

/**
 * A call of a driver for people to read: statements with their literals struck out, and of every
 * value only its shape, since a host's own tests may hold real keys and tokens.
 */
export function describeCall({ madeBy, name, args }: DriverCall): string {
  const own = `${name}(${args.map(describeArgument).join(', ')})`
  if (madeBy === null) return own
  // Only a statement tells anything of the call that made the object: `prepare("select …").get(…)`.
  const [made = ''] = madeBy.args.map(describeArgument)
  return `${madeBy.name}${made.startsWith('"') ? `(${made})` : ''}.${own}`
}

function describeArgument(value: unknown, at: number): string {
  if (at === 0 && typeof value === 'string') return statementIn(value) ?? shapeOf(value)
  return statementOf(value) ?? shapeOf(value)
}

function statementIn(text: string): string | null {
  return statements.test(text) || commandName.test(text) ? statement(text) : null
}

/** The statement of an object such as `{ sql, values }` or `{ text, values }`; null where there is none. */
function statementOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  for (const name of ['sql', 'text']) {
    const text: unknown = Reflect.get(value, name)
    if (typeof text === 'string' && statements.test(text)) return statement(text)
  }
  return null
}

/** SQL, or a command such as `HSETNX`, without what was written into it. */
function statement(text: string): string {
  const bare = text
    .replace(/'(?:[^']|'')*'/g, "'…'")
    .replace(/\s+/g, ' ')
    .trim()
  return JSON.stringify(bare.length > longest ? `${bare.slice(0, longest)}…` : bare)
}

/** `text(5)`, `number`, `true`, `{ _id: text(3), count: number }`, `[3 × text(7)]`. */
function shapeOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return `text(${value.length})`
  if (typeof value === 'boolean') return String(value)
  if (typeof value !== 'object' || value === null) return value == null ? `${value}` : typeof value
  if (ArrayBuffer.isView(value)) return `bytes(${value.byteLength})`
  if (Array.isArray(value)) return shapeOfList(value, depth)
  const entries = Object.entries(value)
  // A connection or a pool, not a result.
  if (entries.length > mostOfResult) return value.constructor?.name || 'object'
  if (depth > 1 || entries.length === 0) return entries.length === 0 ? '{}' : '{…}'
  const shown = entries.slice(0, mostFields)
  const rest = entries.length > mostFields ? ', …' : ''
  return `{ ${shown.map(([key, inner]) => `${key}: ${shapeOf(inner, depth + 1)}`).join(', ')}${rest} }`
}

function shapeOfList(list: readonly unknown[], depth: number): string {
  if (list.length === 0) return '[]'
  return `[${list.length} × ${shapeOf(list[0], depth + 1)}]`
}
