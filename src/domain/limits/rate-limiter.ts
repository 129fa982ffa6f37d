import { sha256 } from '../../crypto/secrets.js'
import {
  countHit,
  type DeferredCount,
  type DeferredHit,
  isForgettable,
  judgeDeferred,
  reported,
  unanswered,
  type WindowCount,
} from '../../engine/limits.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { Counter, CounterResult } from '../../ports/backend.js'
import type { Clock, Logger } from '../../ports/host.js'
import type { Surface } from '../../ports/surface.js'

/** At most `limit` hits within `windowMs` milliseconds. */
export interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

/**
 * The rate limits. Names with `…PerIp` count network addresses, with `…PerSession` sessions, the others
 * what they name.
 */
export type RateLimitName = AddressLimitName | SessionLimitName | AccountLimitName

/** The limits of requests whose account is not known. */
export type AddressLimitName =
  | 'registerPerIp'
  | 'recoveryPerIp'
  | 'confirmPerIp'
  | 'refreshPerIp'
  | 'oauthPerIp'
  | 'mfaPerIp'
  | 'grantPerIp'
  | 'jwksPerIp'
  | 'optionsPerIp'
  | 'logoutPerIp'

/** The limits of signed-in callers. */
export type SessionLimitName =
  | 'selfPerSession'
  | 'changePerSession'
  | 'endingPerSession'
  | 'mfaPerSession'
  | 'adminPerSession'

type AccountLimitName =
  | 'recoveryPerAddress'
  | 'refreshFamily'
  | 'mfaPerTicket'
  | 'mfaPerUser'
  | 'passwordChangePerUser'
  | 'addressChangePerUser'

/** All rate limits of a surface by name. */
export type RateLimits = Readonly<Record<RateLimitName, RateLimit>>

const minute = 60_000

/** What the host may override. The login rate is a live setting and not among them. */
export function defaultRateLimits(surface: Surface): RateLimits {
  return {
    registerPerIp: { limit: surface === 'operator' ? 5 : 10, windowMs: 10 * minute },
    recoveryPerIp: { limit: 5, windowMs: 15 * minute },
    recoveryPerAddress: { limit: 3, windowMs: 60 * minute },
    confirmPerIp: { limit: 60, windowMs: 15 * minute },
    refreshPerIp: { limit: 600, windowMs: minute },
    refreshFamily: { limit: 60, windowMs: minute },
    oauthPerIp: { limit: 30, windowMs: minute },
    mfaPerIp: { limit: 300, windowMs: 5 * minute },
    mfaPerTicket: { limit: 10, windowMs: 5 * minute },
    mfaPerUser: { limit: 10, windowMs: 5 * minute },
    passwordChangePerUser: { limit: 5, windowMs: 60 * minute },
    addressChangePerUser: { limit: 5, windowMs: 60 * minute },
    grantPerIp: { limit: 60, windowMs: minute },
    jwksPerIp: { limit: 300, windowMs: minute },
    optionsPerIp: { limit: 300, windowMs: minute },
    logoutPerIp: { limit: 60, windowMs: minute },
    selfPerSession: { limit: 120, windowMs: minute },
    changePerSession: { limit: 20, windowMs: 15 * minute },
    endingPerSession: { limit: 60, windowMs: minute },
    mfaPerSession: { limit: 10, windowMs: 5 * minute },
    adminPerSession: { limit: 60, windowMs: minute },
  }
}

/** Limits whose hits are handed back where what they were counted for came to nothing. */
export const handedBackLimits = [
  'recoveryPerAddress',
  'passwordChangePerUser',
  'addressChangePerUser',
] as const satisfies readonly RateLimitName[]

export type HandedBackName = (typeof handedBackLimits)[number]

/**
 * Limits of frequent and harmless requests, whose hits may be counted in the process first. What is
 * handed back is never among them: a hit that the counter has not seen would be taken from another
 * process's.
 */
export const deferredLimits = [
  'refreshPerIp',
  'refreshFamily',
  'grantPerIp',
  'jwksPerIp',
  'optionsPerIp',
  'selfPerSession',
  'adminPerSession',
] as const satisfies readonly Exclude<RateLimitName, HandedBackName>[]

/** Any name of a counter but those that are counted in the process first. */
export type ExactName<Name extends string> = Name extends (typeof deferredLimits)[number]
  ? never
  : Name

/** All sessions of an account together may use up as much as so many of them alone. */
const sessionsPerUser = 5

/** How often `close` tries again when a hit arrives between its two steps. */
const tries = 4

export interface RateLimiter {
  /**
   * Counts a hit under a named limit; throws `rate_limited` when it is used up. Where the counter can
   * add, the first hits of `deferredLimits` are counted in this process alone: all processes together
   * let through the limit and, for each of them, a fiftieth of it, at least one hit.
   */
  check(name: RateLimitName, subject: string): Promise<void>
  /**
   * Counts a hit of a session, and then of all sessions of its user, who have five times the limit.
   * What the session is refused for does not count for the user: a stolen token cannot use that up.
   * Without a session, as for service accounts, the user's own limit decides.
   */
  checkSession(
    name: SessionLimitName,
    who: { readonly sessionId: string | null; readonly userId: string },
  ): Promise<void>
  /** Counts a hit under a limit of the caller's; resolves to the window as this hit left it. */
  checkWith<Name extends string>(
    name: ExactName<Name>,
    subject: string,
    limit: RateLimit,
  ): Promise<CounterResult>
  /**
   * Starts a window that is full from the beginning: every hit is refused until its end, to which this
   * resolves, in epoch milliseconds. Hits beside it may be allowed until it resolves. If two calls close a window, the
   * longer one stays.
   */
  close<Name extends string>(
    name: ExactName<Name>,
    subject: string,
    limit: RateLimit,
  ): Promise<number>
  /** The milliseconds in which hits of a named limit are counted together. */
  windowOf(name: RateLimitName): number
  /** Hands back `hits` of what `checkWith` counted, or all of it. Failures are logged only. */
  forgive<Name extends string>(name: ExactName<Name>, subject: string, hits?: number): Promise<void>
}

interface Deps {
  readonly surface: Surface
  /** The prefix of the host's collections: hosts that share a database share no counter. Default none. */
  readonly prefix?: string
  readonly counter: Counter
  readonly clock: Clock
  readonly logger: Logger
  readonly overrides: Partial<RateLimits>
  /** Whether every hit is counted by the counter as it comes. Default false. */
  readonly exact?: boolean
}

export function createRateLimiter(deps: Deps): RateLimiter {
  const { surface, prefix = '', counter, clock, logger } = deps
  const named: RateLimits = { ...defaultRateLimits(surface), ...deps.overrides }
  const fallback = fallbackCounter()
  const { add } = counter
  const deferred =
    add === undefined || deps.exact
      ? null
      : createDeferredCounts({ ...deps, add: (...hits) => add.apply(counter, hits) })

  // Hashed: bounded length, and no address is kept in the counter's keys.
  const keyOf = (name: string, subject: string): string =>
    `${prefix}${surface}:${name}:${sha256(subject)}`

  async function hit(key: string, limit: RateLimit): Promise<CounterResult> {
    const now = clock.now()
    try {
      return await counter.hit(key, limit.windowMs, limit.limit, now)
    } catch (error) {
      logger.warn(
        'the rate-limit counter cannot be reached; counting in this process',
        describeError(error),
      )
      return fallback.hit(key, limit.windowMs, limit.limit, now)
    }
  }

  async function fill(key: string, limit: RateLimit): Promise<CounterResult> {
    if (add !== undefined) {
      const { limit: hits, windowMs } = limit
      const filled = add.call(counter, key, windowMs, hits, clock.now(), hits)
      const result = await filled.catch(() => null)
      if (result !== null) return result
    }
    let last = await hit(key, limit)
    while (last.allowed && last.count < limit.limit) last = await hit(key, limit)
    return last
  }

  function requireAllowed({
    allowed,
    resetsAt,
  }: Pick<CounterResult, 'allowed' | 'resetsAt'>): void {
    if (allowed) return
    const wait = Math.max(1, Math.ceil((resetsAt - clock.now()) / 1000))
    throw new AuthError('rate_limited', { retryAfter: wait })
  }

  async function checkKey(key: string, name: RateLimitName, limit: RateLimit): Promise<void> {
    const counts = isDeferred(name) ? deferred : null
    requireAllowed((await counts?.hit(key, limit)) ?? (await hit(key, limit)))
  }

  /** False where the counter failed. */
  async function forgive(key: string, hits?: number): Promise<boolean> {
    await fallback.forgive(key, hits)
    try {
      await counter.forgive(key, hits)
      return true
    } catch (error) {
      logger.warn('a counted attempt could not be handed back', describeError(error))
      return false
    }
  }

  return {
    async check(name, subject) {
      await checkKey(keyOf(name, subject), name, named[name])
    },
    async checkSession(name, { sessionId, userId }) {
      const { limit, windowMs } = named[name]
      await checkKey(keyOf(name, sessionId ?? userId), name, { limit, windowMs })
      if (sessionId === null) return
      const ofAll = { limit: limit * sessionsPerUser, windowMs }
      await checkKey(keyOf(`${name} of the user`, userId), name, ofAll)
    },
    async checkWith(name, subject, limit) {
      const result = await hit(keyOf(name, subject), limit)
      requireAllowed(result)
      return result
    },
    windowOf: (name) => named[name].windowMs,
    async close(name, subject, limit) {
      const key = keyOf(name, subject)
      for (let left = tries; ; left -= 1) {
        const end = clock.now() + limit.windowMs
        const { resetsAt } = await fill(key, limit)
        if (resetsAt >= end || left === 0) return resetsAt
        // A hit that comes right after may begin a shorter window, so the loop checks the end again. Where the counter failed, what this
        // process counts was forgiven all the same.
        if (!(await forgive(key))) return (await fill(key, limit)).resetsAt
      }
    },
    async forgive(name, subject, hits) {
      await forgive(keyOf(name, subject), hits)
    },
  }
}

function isDeferred(name: RateLimitName): boolean {
  return deferredLimits.some((one) => one === name)
}

/**
 * Counts in this process alone: the stand-in while the shared counter cannot be reached, so that
 * an outage never means "unlimited". Bounded: when full, the oldest window makes room.
 */
export function fallbackCounter(capacity = 50_000): Pick<Counter, 'hit' | 'forgive'> {
  const windows = new Map<string, WindowCount>()
  return {
    async hit(key, windowMs, limit, now) {
      const { allowed, window } = countHit(windows.get(key) ?? null, windowMs, limit, now)
      windows.delete(key)
      windows.set(key, window)
      const oldest = windows.keys().next()
      if (windows.size > capacity && !oldest.done) windows.delete(oldest.value)
      return { allowed, ...window }
    },
    async forgive(key, hits) {
      const window = windows.get(key)
      if (window === undefined) return
      if (hits === undefined || hits >= window.count) windows.delete(key)
      else windows.set(key, { ...window, count: window.count - hits })
    },
  }
}

/**
 * Makes an attempt that counts only when it succeeds. It is counted before it is made, so that parallel
 * ones cannot exceed the limit, and handed back when it throws. Throws `rate_limited` without making it
 * when the limit is used up.
 */
export async function limitedSuccess<T>(
  limits: RateLimiter,
  name: HandedBackName,
  subject: string,
  make: () => Promise<T>,
): Promise<T> {
  await limits.check(name, subject)
  return make().catch(async (error: unknown) => {
    await limits.forgive(name, subject, 1)
    throw error
  })
}

type Verdict = Pick<CounterResult, 'allowed' | 'resetsAt'>

/** Counts the first hits of a window in this process, and reports them with the later ones. */
export interface DeferredCounts {
  /**
   * Counts a hit of the key, most often without a call of the counter. Never rejects: while the counter
   * fails, this process decides alone. Resolves to null for a key that finds no room here, which is to
   * be counted as it comes: what is remembered is never forgotten before its window ended, so no hit is
   * lost and no key gets its allowance twice.
   */
  hit(key: string, limit: RateLimit): Promise<Verdict | null>
}

interface DeferralDeps {
  readonly add: NonNullable<Counter['add']>
  readonly clock: Clock
  readonly logger: Logger
}

/** Some 200 bytes each. */
const mostKeys = 50_000

export function createDeferredCounts(deps: DeferralDeps, capacity = mostKeys): DeferredCounts {
  const { add, clock, logger } = deps
  const windows = new Map<string, DeferredCount>()
  let hand = windows.entries()

  /** Looks at a few entries, each in its turn, and drops those that are over. */
  function tidy(now: number): void {
    // Two for each new one keep the map close to what is running.
    const looks = windows.size < capacity ? 2 : 16
    for (let look = 0; look < looks; look += 1) {
      const { done, value } = hand.next()
      if (done) hand = windows.entries()
      else if (isForgettable(value[1], now)) windows.delete(value[0])
    }
  }

  function note(key: string, window: DeferredCount | null): void {
    if (window !== null) windows.set(key, window)
  }

  async function report(key: string, hits: number, hit: DeferredHit): Promise<Verdict> {
    try {
      const answer = await add(key, hit.windowMs, hit.limit, hit.now, hits)
      const answered = { ...hit, now: clock.now() }
      note(key, reported(windows.get(key) ?? null, answer, answered))
      return answer
    } catch (error) {
      logger.warn(
        'the rate-limit counter did not answer a report; counting in this process, and reporting its hits once more',
        { hits, ...describeError(error) },
      )
      const failed = { ...hit, now: clock.now() }
      const { allowed, next } = unanswered(windows.get(key) ?? null, hits, failed)
      note(key, next)
      return { allowed, resetsAt: next.resetsAt }
    }
  }

  return {
    async hit(key, { limit, windowMs }) {
      const hit = { limit, windowMs, now: clock.now() }
      const known = windows.get(key) ?? null
      if (known === null) {
        tidy(hit.now)
        if (windows.size >= capacity) return null
      }
      // Nothing is awaited between the look and the note, so parallel hits each see the one before.
      const decision = judgeDeferred(known, hit)
      if (decision.outcome === 'refused') return { allowed: false, resetsAt: decision.resetsAt }
      note(key, decision.next)
      if (decision.outcome === 'report') return report(key, decision.hits, hit)
      return { allowed: true, resetsAt: decision.next.resetsAt }
    },
  }
}
