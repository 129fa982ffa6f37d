import { startEarly } from '../../concurrency/promises.js'
import { type BudgetName, type GuessBudget, storedBudget } from '../../engine/guess-budgets.js'
import { lockoutLength } from '../../engine/limits.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { CounterResult } from '../../ports/backend.js'
import type { AuthSettings } from '../../settings/settings.js'
import type { RateLimit, RateLimiter } from './rate-limiter.js'

// How many wrong guesses at one kind of secret one subject may meet: passwords of an
// address, whether or not it has an account, or codes of a user, and apart from these what a known device or
// a sign-in key gets wrong. A guess is counted before it is checked, so parallel guesses cannot exceed the limit.

/** What counts guesses; `SurfaceContext` has both. */
interface Limited {
  readonly limits: RateLimiter
  readonly settings: () => Promise<AuthSettings>
}

/** A lockout that began just now. */
export interface LockoutEnd {
  /** Epoch milliseconds at which it ends. */
  readonly until: number
  /** Whether it is the first one within a month; later ones are longer. Always true but for codes. */
  readonly isFirst: boolean
  /** Whose guesses were used up. */
  readonly budget: BudgetName
}

/** A guess at one kind of secret, of one subject: an address, a user, a device of theirs, a session or a link. */
export interface Guess {
  readonly counter: FailureCounter
  readonly subject: string
  /** Default `address`. */
  readonly budget?: BudgetName
  /** What counts it in its place once this is used up. Default: nothing, so that it is refused. */
  readonly otherwise?: Guess
}

/** A guess of a login at a password. `userId` is that of nobody for an address without an account. */
export function passwordGuess(address: string, userId: string, budget: GuessBudget): Guess {
  if (budget.of === 'address') return { counter: 'passwordFailures', subject: address }
  const isDevice = budget.of === 'knownDevice'
  const counter = isDevice ? 'passwordFailuresOfDevice' : 'passwordFailuresOfSignInKey'
  return { counter, subject: subjectOf(userId, budget), budget: budget.of }
}

/** A guess of a login at a second factor. A sign-in key has few, and from then on those of everybody. */
export function factorGuess(
  counter: (typeof loginFactorCounters)[number],
  userId: string,
  budget: GuessBudget,
): Guess {
  const own = { counter, subject: subjectOf(userId, budget), budget: budget.of }
  if (budget.of !== 'signInKey') return own
  const otherwise: Guess = { counter, subject: userId }
  return { ...own, counter: 'factorFailuresOfSignInKey', otherwise }
}

/** Whose guesses are counted together in a budget of an account. */
export function subjectOf(userId: string, budget: GuessBudget): string {
  if (budget.of === 'address') return userId
  return `${userId} ${storedBudget(budget)}`
}

/**
 * Each kind of secret has its own counter, so guesses at one kind never lock another. Factors at a login and factors within a
 * session have counters of their own too: otherwise a thief with a session could keep its owner from signing in.
 */
export type FailureCounter =
  | (typeof passwordCounters)[number]
  | (typeof factorCounters)[number]
  | 'mailedCodeFailures'
  | 'factorFailuresOfSignInKey'
  | 'factorFailuresOfSession'

const passwordCounters = [
  'passwordFailures',
  'passwordFailuresOfDevice',
  'passwordFailuresOfSignInKey',
  'passwordFailuresOfSession',
  'passwordFailuresOfLink',
] as const

/** Each counts the failures at logins, of a user or of a device of theirs. */
const loginFactorCounters = ['totpFailures', 'backupCodeFailures', 'passkeyFailures'] as const

/** Each counts the failures of a user. */
const factorCounters = [
  ...loginFactorCounters,
  'totpFailuresInSessions',
  'backupCodeFailuresInSessions',
] as const

/**
 * Where the lockouts of a user's codes within a month are counted: each is longer than the one before. A right code resets
 * neither this count nor that of a day, because it is the owner's and the guesser goes on. Passkeys have none: a signature
 * cannot be guessed, and a longer lockout would only shut the owner out.
 */
const lockoutsOf: { readonly [Name in FailureCounter]?: string } = {
  totpFailures: 'factorLockouts',
  backupCodeFailures: 'factorLockouts',
  totpFailuresInSessions: 'factorLockoutsInSessions',
  backupCodeFailuresInSessions: 'factorLockoutsInSessions',
}
const dayMs = 24 * 60 * 60 * 1000
const monthMs = 30 * dayMs
/** More than fit into a month, at the shortest `lockoutDuration`. */
const mostPerMonth = 100_000
/**
 * One less than so many times the threshold of wrong codes in a day begins a lockout of a day: it stops a guesser who pauses
 * before the ordinary lockout.
 */
const thresholdsPerDay = 5
const ofDay = (name: string) => `${name}OfDay`

/**
 * Codes are short, and a caller who guesses at them knows the password or has a session: they are never without a
 * lockout.
 */
const factorThreshold = 10

/** Each with its day and its lockouts of a month, where it has them. */
function withGrowth(names: readonly FailureCounter[]): readonly string[] {
  const all = names.map((name) => [
    name,
    ...(lockoutsOf[name] ? [ofDay(name), lockoutsOf[name]] : []),
  ])
  return [...new Set(all.flat())]
}

/** Every counter of guesses at the secrets of an account. Those of a session or a link end with it. */
const countersOf = {
  password: {
    address: ['passwordFailures', 'mailedCodeFailures'],
    user: [],
    signInKey: ['passwordFailuresOfSignInKey'],
    device: ['passwordFailuresOfDevice', 'mailedCodeFailures'],
  },
  factor: {
    address: [],
    user: withGrowth(factorCounters),
    signInKey: ['factorFailuresOfSignInKey'],
    device: withGrowth(loginFactorCounters),
  },
}

/**
 * Forgets every guess at these secrets of a user. `hashes` are of all their recognition ids. Never throws: what stays runs
 * out.
 */
export async function clearFailures(
  limits: RateLimiter,
  { id, email }: Pick<User, 'id' | 'email'>,
  hashes: readonly string[],
  secrets: readonly ('password' | 'factor')[],
): Promise<void> {
  const forgive = (names: readonly string[], subject: string) =>
    Promise.all(names.map((name) => limits.forgive(name, subject)))
  for (const { address, user, signInKey, device } of secrets.map((secret) => countersOf[secret])) {
    await Promise.all([forgive(address, email), forgive(user, id)])
    await forgive(signInKey, subjectOf(id, { of: 'signInKey' }))
    for (const recognitionHash of hashes) {
      await forgive(device, subjectOf(id, { of: 'knownDevice', recognitionHash }))
    }
  }
}

async function counted(
  ctx: Limited,
  counter: string,
  subject: string,
  windowMs: number,
): Promise<number> {
  return (await ctx.limits.checkWith(counter, subject, { limit: mostPerMonth, windowMs })).count
}

/** The lockout that a wrong guess begins, as it stands in its window; null where it begins none. */
async function lockoutAfter(
  ctx: Limited,
  { counter: name, subject, budget = 'address' }: Guess,
  limit: RateLimit,
  { count, resetsAt }: Pick<CounterResult, 'count' | 'resetsAt'>,
): Promise<LockoutEnd | null> {
  const isFull = count >= limit.limit
  const lockouts = lockoutsOf[name]
  if (lockouts === undefined) return isFull ? { until: resetsAt, isFirst: true, budget } : null
  const today = await counted(ctx, ofDay(name), subject, dayMs)
  const most = thresholdsPerDay * limit.limit - 1
  const isDayFull = today % most === 0
  if (!isFull && !isDayFull) return null
  const number = await counted(ctx, lockouts, subject, monthMs)
  const isFirst = number === 1
  const grown = isFull ? lockoutLength(limit.windowMs, number) : 0
  const windowMs = Math.max(grown, isDayFull ? dayMs : 0)
  if (isFull && windowMs <= limit.windowMs) return { until: resetsAt, isFirst, budget }
  const until = await ctx.limits.close(name, subject, { ...limit, windowMs })
  return { until, isFirst, budget }
}

/** A guess that was counted, where it was. */
interface Counted extends Pick<CounterResult, 'count' | 'resetsAt'> {
  readonly guess: Guess
  readonly window: RateLimit
}

async function countGuess(ctx: Limited, guess: Guess, window: RateLimit): Promise<Counted> {
  const { counter, subject, otherwise } = guess
  // A thief of the mailbox gets a new key by each reset, and no new guesses.
  const own = otherwise === undefined ? window : { ...window, windowMs: monthMs }
  try {
    return { guess, window: own, ...(await ctx.limits.checkWith(counter, subject, own)) }
  } catch (error) {
    const isUsedUp = error instanceof AuthError && error.code === 'rate_limited'
    if (!isUsedUp || otherwise === undefined) throw error
    return countGuess(ctx, otherwise, window)
  }
}

/**
 * Runs a check of a secret, given the number of failures counted before it in the same budget. A result with `ok`
 * forgives all of them there; any other result counts. Throws `rate_limited` when the limit is reached, even for the right
 * secret. A check that rejects (a busy server, a failing store or hasher) hands its guess back. The guess that reaches
 * the limit calls `lockedOut`. With `forgiving`, this resolves before the failures are forgiven and passes the pending
 * work on. The caller must wait for it before the reply: a process that is frozen between requests would never finish
 * it, and the owner's own logins would lock them out.
 */
export async function attemptGuess<T extends { readonly ok: boolean }>(
  ctx: Limited,
  asked: Guess,
  check: (failedBefore: number) => Promise<T>,
  lockedOut: (result: T, end: LockoutEnd) => void,
  forgiving?: (forgiven: Promise<void>) => void,
): Promise<T> {
  const { lockoutThreshold, lockoutDuration } = await ctx.settings()
  const isOfFactor = passwordCounters.every((counter) => counter !== asked.counter)
  const limit = lockoutThreshold || (isOfFactor ? factorThreshold : 0)
  if (limit === 0) return check(0)
  const counted = await countGuess(ctx, asked, { limit, windowMs: lockoutDuration })
  const { guess, window, count } = counted
  const { counter, subject, otherwise } = guess
  const result = await check(count - 1).catch(async (error: unknown) => {
    await ctx.limits.forgive(counter, subject, 1)
    throw error
  })
  if (result.ok) {
    // A month's few are not to be had again by signing in.
    const hits = otherwise === undefined ? undefined : 1
    const forgiven = startEarly(ctx.limits.forgive(counter, subject, hits))
    if (forgiving === undefined) await forgiven
    else forgiving(forgiven)
  } else {
    const end = await lockoutAfter(ctx, guess, window, counted)
    // Where the next guess counts elsewhere, nobody is locked out.
    if (end !== null && otherwise === undefined) lockedOut(result, end)
  }
  return result
}

/** Limits how often something may fail within a window; what succeeds is not counted. */
export interface FailureThrottle {
  /**
   * Runs an attempt that `ok` says the end of. It is counted before it is made, so that parallel
   * guesses cannot exceed the limit, and handed back unless it failed. Throws `rate_limited` without
   * making it when the failures are used up, whatever it would have come to. Attempts under way in
   * this process are waited for first: that many of one client, started at once, are no failures.
   */
  attempt<T extends { readonly ok: boolean }>(
    subject: string,
    limit: RateLimit,
    make: () => Promise<T>,
  ): Promise<T>
}

/** The attempts of one subject in this process, while there is one that is made or that asks to be. */
interface Attempts {
  readonly underWay: Set<Promise<void>>
  /** How many were handed back. */
  handedBack: number
  present: number
}

export function createFailureThrottle(
  { limits }: { readonly limits: RateLimiter },
  name: string,
): FailureThrottle {
  const subjects = new Map<string, Attempts>()

  function enter(subject: string): Attempts {
    const own = subjects.get(subject) ?? { underWay: new Set(), handedBack: 0, present: 0 }
    own.present += 1
    subjects.set(subject, own)
    return own
  }

  function leave(subject: string, own: Attempts): void {
    own.present -= 1
    if (own.present === 0) subjects.delete(subject)
  }

  /**
   * Counts one, or waits for one counted here to end and tries again. What the counter answers may be older than
   * an attempt that was handed back in the meantime: then it is asked again.
   */
  async function reserve(subject: string, limit: RateLimit, own: Attempts): Promise<() => void> {
    for (;;) {
      const { handedBack } = own
      try {
        await limits.checkWith(name, subject, limit)
        return begin(own)
      } catch (error) {
        await untilRoom(error, own, handedBack)
      }
    }
  }

  return {
    async attempt(subject, limit, make) {
      const own = enter(subject)
      try {
        const end = await reserve(subject, limit, own)
        let failed = false
        try {
          const result = await make()
          failed = !result.ok
          return result
        } finally {
          if (!failed) {
            await limits.forgive(name, subject, 1)
            own.handedBack += 1
          }
          end()
        }
      } finally {
        leave(subject, own)
      }
    },
  }
}

/** Resolves once there may be room again; throws the refusal where nothing here makes any. */
async function untilRoom(refusal: unknown, own: Attempts, handedBack: number): Promise<void> {
  const isLimit = refusal instanceof AuthError && refusal.code === 'rate_limited'
  const isOld = own.handedBack !== handedBack
  if (!isLimit || (own.underWay.size === 0 && !isOld)) throw refusal
  if (!isOld) await Promise.race(own.underWay)
}

function begin({ underWay }: Attempts): () => void {
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  underWay.add(ended)
  return () => {
    underWay.delete(ended)
    end()
  }
}
