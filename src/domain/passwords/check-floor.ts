import type { Clock } from '../../ports/host.js'

/** What hashes have in common that take equally long to check. */
export interface HashKind {
  readonly name: string
  /** What a check costs, to compare it with others of the same algorithm; null where that is unknown. */
  readonly cost: number | null
}

/**
 * The time that a failed check takes at least, kept per process: as long as checks of the slowest kind of
 * hash that it met. Otherwise one failed login would tell an account with an older, cheaper hash from an
 * address without an account.
 */
export interface CheckFloor {
  /** Makes a check and remembers how long its kind takes. */
  timed<T>(kind: HashKind, check: () => Promise<T>): Promise<Timed<T>>
  /** Resolves no sooner after a check began than one of the slowest kind would have ended. */
  reach(startedAt: number): Promise<void>
}

export interface Timed<T> {
  readonly result: T
  /** Epoch milliseconds. */
  readonly startedAt: number
}

interface Seen extends Pick<HashKind, 'cost'> {
  readonly ms: number
}

/** Longer ones are not a check: the clock was set while it ran, or the machine slept. */
const longestMs = 3_000
const mostKinds = 64

/**
 * `current` is the kind that addresses without an account are checked with. Until one was seen, its time
 * is estimated from that of another.
 */
export function createCheckFloor(clock: Clock, current: HashKind): CheckFloor {
  const seen = new Map<string, Seen>()

  function remember({ name, cost }: HashKind, ms: number): void {
    const before = seen.get(name)?.ms
    if (ms < 0 || ms > longestMs || (before === undefined && seen.size >= mostKinds)) return
    // Up at once, and slowly down: what is nearly the slowest has to be covered as well.
    const next = before === undefined || ms >= before ? ms : before - (before - ms) / 16
    seen.set(name, { cost, ms: next })
  }

  function floorMs(): number {
    const all = [...seen.values()]
    const estimates = all.map(({ ms, cost }) => {
      if (seen.has(current.name) || cost === null || current.cost === null) return ms
      return Math.max(ms, (ms * current.cost) / cost)
    })
    return Math.min(longestMs, Math.max(0, ...estimates))
  }

  return {
    async timed(kind, check) {
      const startedAt = clock.now()
      const result = await check()
      remember(kind, clock.now() - startedAt)
      return { result, startedAt }
    },
    async reach(startedAt) {
      const floor = floorMs()
      // Bounded, since the clock may have been set meanwhile.
      const rest = Math.min(floor, startedAt + floor - clock.now())
      if (rest <= 0) return
      await new Promise<void>((resolve) => {
        clock.after(Math.ceil(rest), resolve)
      })
    },
  }
}
