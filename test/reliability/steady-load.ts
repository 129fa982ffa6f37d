import { setTimeout as wait } from 'node:timers/promises'
import type { Reply } from '../support/hosts/http-client.js'
import { type Grant, grantOf, type Host, type Login, outcomeOf } from './host-client.js'
import { monotonic } from './moving-clock.js'

/** One request and what came of it, in milliseconds of the machine's monotonic time. */
export interface Observed {
  readonly kind: string
  readonly startedAt: number
  readonly endedAt: number
  /** `200 rotated`, `503 session_enforcement_unavailable`, or `none` when no reply came. */
  readonly outcome: string
}

export interface SteadyLoad {
  /** Everything that was answered so far, in the order of the answers. */
  readonly seen: readonly Observed[]
  /** Stops asking and waits for what is under way. */
  stop(): Promise<void>
}

/** A request of one kind; it tells the outcome and never rejects. */
export type Ask = () => Promise<string>

/**
 * Asks `perSecond` times a second, whether or not earlier answers have come: what an outage looks
 * like to a host. `choose` names the n-th request.
 */
export function steadyLoad(
  perSecond: number,
  choose: (n: number) => readonly [kind: string, ask: Ask],
): SteadyLoad {
  const seen: Observed[] = []
  const underWay = new Set<Promise<void>>()
  const start = monotonic()
  let goesOn = true

  async function one(n: number): Promise<void> {
    const [kind, ask] = choose(n)
    const startedAt = monotonic()
    const outcome = await ask()
    seen.push({ kind, startedAt, endedAt: monotonic(), outcome })
  }

  async function run(): Promise<void> {
    for (let n = 0; goesOn; n += 1) {
      const task: Promise<void> = one(n).finally(() => underWay.delete(task))
      underWay.add(task)
      await wait(Math.max(0, start + ((n + 1) * 1000) / perSecond - monotonic()))
    }
  }

  const running = run()
  return {
    seen,
    async stop() {
      goesOn = false
      await running
      await Promise.all(underWay)
    },
  }
}

/** A client as its documentation asks: it keeps its tokens on any 503 and tries again. */
export interface Client {
  readonly login: Login
  /** The tokens of the last success. */
  readonly held: Grant
  /** Refresh tokens of its session that a reply handed out, oldest first. */
  readonly refreshTokens: readonly string[]
  /** True while a request is under way; a client makes one after the other. */
  readonly isBusy: boolean
  refresh: Ask
  me: Ask
}

export function clientOf(host: Host, login: Login): Client {
  const refreshTokens = [login.refreshToken]
  let held: Grant = login
  let isBusy = false

  const asking = (ask: () => Promise<Reply>): Ask => {
    return async () => {
      isBusy = true
      try {
        const reply = await ask()
        return outcomeOf(reply)
      } catch {
        return 'none'
      } finally {
        isBusy = false
      }
    }
  }
  return {
    login,
    get held() {
      return held
    },
    refreshTokens,
    get isBusy() {
      return isBusy
    },
    refresh: asking(async () => {
      const reply = await host.refresh(held.refreshToken)
      if (reply.status === 200) {
        held = grantOf(reply)
        refreshTokens.push(held.refreshToken)
      }
      return reply
    }),
    me: asking(() => host.me(held.accessToken)),
  }
}

/**
 * Refreshes and protected requests by turns, each by the next client that is not busy; null when
 * all are.
 */
export function turns(
  clients: readonly Client[],
): (n: number) => readonly ['refresh' | 'protected', Ask] | null {
  let next = 0
  return (n) => {
    for (let tried = 0; tried < clients.length; tried += 1) {
      const client = clients[next % clients.length]
      next += 1
      if (client === undefined || client.isBusy) continue
      return n % 2 === 0 ? ['refresh', client.refresh] : ['protected', client.me]
    }
    return null
  }
}

/** How often each outcome came, by kind: `refresh 200 rotated: 812`. */
export function tally(seen: readonly Observed[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { kind, outcome } of seen) {
    const name = `${kind} ${outcome}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
