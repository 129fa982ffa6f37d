import type { Host } from './host-client.js'
import { monotonic } from './moving-clock.js'

/** How long each request took, in the order of the replies, and how fast they are let go. */
export interface Pace {
  readonly times: readonly { readonly at: number; readonly ms: number }[]
  /** Requests a second of all hosts together, from now on; before, as many as are asked for. */
  limit(perSecond: number): void
  turn(): Promise<void>
  took(at: number, ms: number): void
}

export function paceOf(wait: (ms: number) => Promise<unknown>): Pace {
  const times: { at: number; ms: number }[] = []
  let everyMs = 0
  let nextAt = 0
  return {
    times,
    limit(perSecond) {
      everyMs = 1000 / perSecond
    },
    async turn() {
      const now = monotonic()
      const mine = Math.max(now, nextAt)
      // A host that fell behind is not made to catch up.
      nextAt = mine + everyMs
      if (mine > now) await wait(mine - now)
    },
    took: (at, ms) => void times.push({ at, ms }),
  }
}

/** A host whose requests wait for their turn and are timed. */
export function pacedHost(host: Host, pace: Pace): Host {
  return {
    ...host,
    async send(method, path, given) {
      await pace.turn()
      const begun = monotonic()
      const reply = await host.send(method, path, given)
      const ended = monotonic()
      pace.took(ended, ended - begun)
      return reply
    },
  }
}
