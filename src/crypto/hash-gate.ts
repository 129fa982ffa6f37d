import { AuthError, OptionsError } from '../errors/index.js'
import type { Clock } from '../ports/clock.js'
import type { Surface } from '../ports/surface.js'

/** Who waits together: what one caller asks for is done in turn with what others ask for. */
export interface HashLine {
  /** The surface whose callers it is for; `host` for the host's own code. */
  readonly holder: Surface | 'host'
  /** A network address, a session, or whatever else tells callers of the holder apart. */
  readonly name: string
}

export interface HashGateOptions {
  /** How many run at once; 1 to 1,024. */
  readonly concurrency: number
  /** How many may wait; 0 to 10,000. */
  readonly queue?: number
  /** The longest one waits, in milliseconds; 1 to 60,000. */
  readonly maxWaitMs?: number
  readonly clock: Clock
}

/**
 * Runs `work` when its turn comes and answers with its result. Throws `server_busy` without running
 * it when there is no room to wait or the turn does not come in time.
 */
export type HashGate = <T>(line: HashLine, work: () => Promise<T>) => Promise<T>

interface Waiting {
  readonly line: Line
  readonly proceed: () => void
  readonly refuse: () => void
}

interface Line extends Pick<HashLine, 'holder'> {
  readonly key: string
  /** In order of arrival. */
  readonly waiting: Waiting[]
}

/**
 * Admission to the one expensive thing the library does. Unlimited password hashing would
 * take every thread and most of the memory, and a flood of logins would stall requests that need
 * no hash. Lines take turns, one each, and a line is served in order of arrival. When there is no room
 * left, the newest of the longest line is refused, so a flood from one address refuses itself. One holder
 * fills seven eighths of the room at most. Work that fails frees its place like work that succeeds.
 */
export function hashGate(options: HashGateOptions): HashGate {
  const { concurrency, queue = 64, maxWaitMs = 2000, clock } = options
  requireBetween('hash.concurrency', concurrency, 1, 1024)
  requireBetween('hash.queue', queue, 0, 10_000)
  requireBetween('hash.maxWaitMs', maxWaitMs, 1, 60_000)
  let running = 0
  const lines = waitingLines(queue)

  async function enter(given: HashLine): Promise<void> {
    if (running < concurrency) {
      running += 1
      return
    }
    const line = lines.roomFor(given)
    if (line === null) throw busy()
    await new Promise<void>((resolve, reject) => {
      const refuse = () => {
        cancelTimer()
        reject(busy())
      }
      const proceed = () => {
        cancelTimer()
        resolve()
      }
      const mine: Waiting = { line, proceed, refuse }
      const cancelTimer = clock.after(maxWaitMs, () => {
        lines.forget(mine)
        reject(busy())
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

/** The lines that are not empty, the one whose turn comes next first. */
function waitingLines(queue: number) {
  const perHolder = Math.ceil((queue * 7) / 8)
  const lines = new Map<string, Line>()

  const count = (among: readonly Line[]): number =>
    among.reduce((sum, { waiting }) => sum + waiting.length, 0)

  function forget({ line }: Waiting, index: number): void {
    line.waiting.splice(index, 1)
    if (line.waiting.length === 0) lines.delete(line.key)
  }

  /** Refuses the newest of the longest line; false where that is the newcomer. */
  function makeRoom(among: readonly Line[], newcomer: Line): boolean {
    let longest = newcomer
    let length = newcomer.waiting.length + 1
    for (const line of among) {
      if (line === newcomer || line.waiting.length <= length) continue
      longest = line
      length = line.waiting.length
    }
    const newest = longest === newcomer ? undefined : longest.waiting.at(-1)
    if (newest === undefined) return false
    forget(newest, longest.waiting.length - 1)
    newest.refuse()
    return true
  }

  return {
    /** The line that the newcomer may join, once another gave way where need be; null for none. */
    roomFor({ holder, name }: HashLine): Line | null {
      const key = `${holder} ${name}`
      const line = lines.get(key) ?? { key, holder, waiting: [] }
      const all = [...lines.values()]
      const own = all.filter((other) => other.holder === holder)
      if (count(own) >= perHolder) return makeRoom(own, line) ? line : null
      if (count(all) >= queue) return makeRoom(all, line) ? line : null
      return line
    },
    add(one: Waiting): void {
      one.line.waiting.push(one)
      lines.set(one.line.key, one.line)
    },
    forget(one: Waiting): void {
      forget(one, one.line.waiting.indexOf(one))
    },
    next(): Waiting | null {
      const [line] = lines.values()
      const next = line?.waiting.shift()
      if (line === undefined || next === undefined) return null
      // To the end of the round, with what is left of it.
      lines.delete(line.key)
      if (line.waiting.length > 0) lines.set(line.key, line)
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
