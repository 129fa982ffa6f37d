import { AuthError, OptionsError } from '../errors/index.js'
import type { Clock } from '../ports/host.js'
import type { HashHolder, HashQueueMetrics } from '../ports/telemetry.js'

/** The line that a caller waits in: what one caller asks for is done in turn with what others ask for. */
export interface HashLine {
  readonly holder: HashHolder
  /** A network address, a session, or anything else that tells callers of the holder apart. */
  readonly name: string
  /**
   * What several lines belong to that one attacker may fill together. Groups take turns, and so do the
   * lines of one. Default: the line is a group of its own.
   */
  readonly group?: string
}

export interface HashGateOptions {
  /** How many run at once; 1 to 1,024. */
  readonly concurrency: number
  /** How many may wait; 0 to 10,000. */
  readonly queue?: number
  /** The longest one waits, in milliseconds; 1 to 60,000. */
  readonly maxWaitMs?: number
  readonly clock: Clock
  /** Default: nothing is measured. */
  readonly metrics?: HashQueueMetrics
}

/**
 * Runs `work` when its turn comes and answers with its result. Throws `server_busy` without running
 * it when there is no room to wait or the turn does not come in time.
 */
export type HashGate = <T>(line: HashLine, work: () => Promise<T>) => Promise<T>

interface Waiting {
  readonly line: Line
  readonly proceed: () => void
  /** Refuses it, in favour of a newcomer. */
  readonly giveWay: () => void
}

interface Line extends Pick<HashLine, 'holder'> {
  readonly key: string
  readonly group: string
  /** In order of arrival. */
  readonly waiting: Waiting[]
}

/**
 * Admission to the one expensive thing the library does. Unlimited password hashing would
 * take every thread and most of the memory, and a flood of logins would stall requests that need
 * no hash. Groups of lines take turns, one each, and so do the lines of a group; a line is served in order
 * of arrival. When there is no room left, the newest of the longest line is refused, and where none is
 * longer than the newcomer's, the newest of the largest group: a flood refuses itself. One holder fills
 * seven eighths of the room at most. Work that fails frees its place like work that succeeds.
 */
export function hashGate(options: HashGateOptions): HashGate {
  const { concurrency, queue = 64, maxWaitMs = 2000, clock, metrics } = options
  requireBetween('hash.concurrency', concurrency, 1, 1024)
  requireBetween('hash.queue', queue, 0, 10_000)
  requireBetween('hash.maxWaitMs', maxWaitMs, 1, 60_000)
  let running = 0
  const lines = waitingLines(queue)

  async function enter({ holder, ...given }: HashLine): Promise<void> {
    if (running < concurrency) {
      running += 1
      metrics?.started(holder, 0)
      return
    }
    const line = lines.roomFor({ holder, ...given })
    if (line === null) {
      metrics?.refused(holder, 'full')
      throw busy()
    }
    const from = clock.now()
    metrics?.waiting(holder, 1)
    await new Promise<void>((resolve, reject) => {
      const leaveLine = () => {
        cancelTimer()
        metrics?.waiting(holder, -1)
      }
      const refuse = (reason: 'full' | 'late') => {
        leaveLine()
        metrics?.refused(holder, reason)
        reject(busy())
      }
      const proceed = () => {
        leaveLine()
        metrics?.started(holder, Math.max(0, clock.now() - from))
        resolve()
      }
      const mine: Waiting = { line, proceed, giveWay: () => refuse('full') }
      const cancelTimer = clock.after(maxWaitMs, () => {
        lines.forget(mine)
        refuse('late')
      })
      lines.add(mine)
    })
  }

  /** The place goes straight to the next in turn, so that no newcomer can slip in between. */
  function leave(): void {
    const next = lines.next()
    if (next === null) running -= 1
    else next.proceed()
  }

  return async (line, work) => {
    await enter(line)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}

/** A gate for each name, which lasts as long as somebody is in it. */
export function hashGates(
  options: HashGateOptions,
): <T>(name: string, line: HashLine, work: () => Promise<T>) => Promise<T> {
  const gates = new Map<string, { readonly gate: HashGate; present: number }>()
  return async (name, line, work) => {
    const own = gates.get(name) ?? { gate: hashGate(options), present: 0 }
    gates.set(name, own)
    own.present += 1
    try {
      return await own.gate(line, work)
    } finally {
      own.present -= 1
      if (own.present === 0) gates.delete(name)
    }
  }
}

const lengthOf = (among: readonly Line[]): number =>
  among.reduce((sum, { waiting }) => sum + waiting.length, 0)

/** The largest one, the last of those that are as large. */
function largest<T>(among: readonly T[], sizeOf: (one: T) => number): T | undefined {
  return among.reduce<T | undefined>(
    (best, one) => (best === undefined || sizeOf(one) >= sizeOf(best) ? one : best),
    undefined,
  )
}

/** The lines that are not empty. */
function waitingLines(queue: number) {
  const perHolder = Math.ceil((queue * 7) / 8)
  /** By group, those whose turn comes next first. */
  const groups = new Map<string, Line[]>()

  function forget({ line }: Waiting, index: number): void {
    line.waiting.splice(index, 1)
    if (line.waiting.length > 0) return
    const left = (groups.get(line.group) ?? []).filter((other) => other !== line)
    if (left.length === 0) groups.delete(line.group)
    else groups.set(line.group, left)
  }

  /** The line whose newest gives way to a newcomer. Undefined where that is the newcomer. */
  function yielding(among: readonly Line[], newcomer: Line): Line | undefined {
    const longest = largest(among, ({ waiting }) => waiting.length)
    if (longest !== undefined && longest.waiting.length > newcomer.waiting.length + 1)
      return longest
    const inGroup = (name: string) => among.filter(({ group }) => group === name)
    const group = largest([...groups.keys()].map(inGroup), lengthOf) ?? []
    if (lengthOf(group) <= lengthOf(inGroup(newcomer.group)) + 1) return undefined
    return largest(group, ({ waiting }) => waiting.length)
  }

  function makeRoom(among: readonly Line[], newcomer: Line): boolean {
    const line = yielding(among, newcomer)
    const newest = line?.waiting.at(-1)
    if (line === undefined || newest === undefined) return false
    forget(newest, line.waiting.length - 1)
    newest.giveWay()
    return true
  }

  return {
    /** The line that the newcomer may join, once another gave way where need be; null for none. */
    roomFor({ holder, name, group = name }: HashLine): Line | null {
      const key = `${holder} ${name}`
      const all = [...groups.values()].flat()
      const found = all.find((other) => other.key === key)
      const line = found ?? { key, holder, group: `${holder} ${group}`, waiting: [] }
      const own = all.filter((other) => other.holder === holder)
      if (lengthOf(own) >= perHolder) return makeRoom(own, line) ? line : null
      if (lengthOf(all) >= queue) return makeRoom(all, line) ? line : null
      return line
    },
    add(one: Waiting): void {
      one.line.waiting.push(one)
      const own = groups.get(one.line.group) ?? []
      if (!own.includes(one.line)) own.push(one.line)
      groups.set(one.line.group, own)
    },
    forget(one: Waiting): void {
      forget(one, one.line.waiting.indexOf(one))
    },
    next(): Waiting | null {
      const [turn] = groups
      if (turn === undefined) return null
      const [group, [line, ...others]] = turn
      const next = line?.waiting.shift()
      if (line === undefined || next === undefined) return null
      // Both to the end of their rounds, with what is left of them.
      groups.delete(group)
      const left = line.waiting.length > 0 ? [...others, line] : others
      if (left.length > 0) groups.set(group, left)
      return next
    },
  }
}

function busy(): AuthError {
  return new AuthError('server_busy')
}

function requireBetween(option: string, value: number, min: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new OptionsError(option, `must be a whole number from ${min} to ${max}.`)
  }
}
