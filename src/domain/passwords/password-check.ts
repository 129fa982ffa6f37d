import { startEarly } from '../../concurrency/promises.js'
import type { HashLine } from '../../crypto/hash-gate.js'
import { networkOf, siteOf } from '../../engine/addresses.js'
import { describeError } from '../../errors/index.js'
import type { Intent } from '../../model/intents.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource, Surface } from '../../ports/surface.js'
import type { SignedIn } from '../context/actor.js'
import { readEmail } from '../context/email-address.js'
import { attemptGuess, passwordGuess } from '../limits/lockout.js'
import { attemptInSession } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { passwordBudget, type ShownKeys } from './guess-budgets.js'

// The one place that compares a password with the stored hash. Logins share one counter per address, beside those of known devices;
// sessions and mailed links have one each, which no stranger can use up. A guess is counted before it is
// checked, and a check that could not be made hands its guess back. Each costs one hash verification,
// whatever is wrong. Throws `rate_limited` and `server_busy`.

/** What came of a guess at the password of an address. */
export interface CheckedAddress<T> {
  readonly ok: boolean
  /** Null for an address without an account. */
  readonly user: User | null
  /** What was read beside the check. */
  readonly beside: T
  /** Wrong guesses that were counted right before, in the budget of this one. */
  readonly failedAttempts: number
  /**
   * Replaces a hash that is too weak: for once the login stands, since one that is refused changes
   * nothing. Never throws.
   */
  readonly upgrade: () => Promise<void>
  /**
   * Resolves once the wrong guesses of before a right one are forgiven, which goes on beside what
   * follows. Wait for it before the reply. Never rejects.
   */
  readonly forgiven: Promise<void>
}

/** Whose password is asked for, and in which of their sessions. */
export type PasswordOwner = Pick<SignedIn, 'user' | 'sessionId'>

/** A refusal takes as long as any. */
async function verify(ctx: SurfaceContext, hash: string | null, password: string, line: HashLine) {
  const verdict = await ctx.passwords.verify(hash, password, line)
  if (!verdict.ok) await ctx.passwords.evenOut(verdict)
  return verdict
}

/** Transparent: whatever goes wrong here, the check succeeds. */
async function upgrade(
  ctx: SurfaceContext,
  user: User,
  hashAgain: () => Promise<string>,
): Promise<void> {
  try {
    const passwordHash = await hashAgain()
    // Compare-and-set on the old hash: a password changed meanwhile stays as it is.
    await ctx.collections.users.update(
      user.id,
      { passwordHash: user.passwordHash },
      { passwordHash },
    )
  } catch (error) {
    ctx.logger.warn('a weak password hash could not be upgraded', describeError(error))
  }
}

/** Whether it is the password of this user, asked by the holder of a mailed link. */
export async function checkPasswordOfLink(
  ctx: SurfaceContext,
  { id }: Pick<Intent, 'id'>,
  { passwordHash }: User,
  password: string,
): Promise<boolean> {
  const line = linkLine(ctx.surface, id)
  const check = () => verify(ctx, passwordHash, password, line)
  const { ok } = await attemptGuess(
    ctx,
    { counter: 'passwordFailuresOfLink', subject: id },
    check,
    () => {},
  )
  return ok
}

/** The same for a signed-in user. The guess that reaches the limit ends the session. */
export async function checkPasswordOfSession(
  ctx: SurfaceContext,
  { user, sessionId }: PasswordOwner,
  password: string,
  source: RequestSource,
): Promise<boolean> {
  const line = sessionLine(ctx.surface, sessionId)
  const check = () => verify(ctx, user.passwordHash, password, line)
  const { ok } = await attemptInSession(
    ctx,
    { counter: 'passwordFailuresOfSession', userId: user.id, sessionId },
    check,
    source,
  )
  return ok
}

/**
 * Whether a person may log in with this address and password; alike for an unknown address, a
 * wrong password, and an account that is disabled, a machine's or without a password. `beside`
 * reads while the hash is verified. The guess that reaches the
 * limit emits `login.lockedOut`.
 */
export async function checkPasswordOfAddress<T>(
  ctx: SurfaceContext,
  {
    email: typed,
    password,
    ...keys
  }: ShownKeys & { readonly email: string; readonly password: string },
  source: RequestSource,
  beside: (user: User | null) => Promise<T>,
): Promise<CheckedAddress<T>> {
  const email = await readEmail(typed)
  const address = email ?? typed.slice(0, 320)
  const line = networkLine(ctx.surface, source)
  // Beside the count, which is judged first: a guess too many is refused whatever this gives.
  const found = startEarly(
    email === null ? Promise.resolve([]) : ctx.collections.users.find({ email }, { limit: 1 }),
  )
  const check = async (failedAttempts: number) => {
    const [user = null] = await found
    const [verdict, read] = await Promise.all([
      ctx.passwords.verify(user?.passwordHash ?? null, password, line),
      // Beside the hash, which mostly takes longer. Without an account as well: where the store
      // is the slower one, addresses with an account would take longer than those without.
      beside(user),
    ])
    const ok = verdict.ok && user?.enabled === true && isHuman(user)
    if (!ok) await ctx.passwords.evenOut(verdict)
    return { ok, user, beside: read, failedAttempts, rehashTo: verdict.rehashTo }
  }
  const budget = await passwordBudget(ctx, keys, found)
  const [holder] = budget.of === 'address' ? [] : await found
  let forgiven = Promise.resolve()
  const { rehashTo, ...checked } = await attemptGuess(
    ctx,
    passwordGuess(address, holder?.id ?? ctx.memory.nobody, budget),
    check,
    ({ user }, { until, budget }) =>
      ctx.emit('login.lockedOut', source, { userId: user?.id ?? null, until, budget }),
    (forgiving) => {
      forgiven = forgiving
    },
  )
  const { ok, user } = checked
  const isDue = ok && user !== null && rehashTo !== null
  const upgradeIt = async () => {
    if (isDue) await upgrade(ctx, user, () => ctx.passwords.rehash(password, rehashTo, line))
  }
  return { ...checked, upgrade: upgradeIt, forgiven }
}

/** Forgets all failures at an address: the owner was proved by other means. */
export function clearPasswordFailures(ctx: SurfaceContext, address: string): Promise<void> {
  return ctx.limits.forgive('passwordFailures', address)
}

/** Where hashes wait that a caller who is not signed in asks for. */
export function networkLine(surface: Surface, { ip }: Pick<RequestSource, 'ip'>): HashLine {
  return { holder: surface, name: `network ${networkOf(ip)}`, group: `site ${siteOf(ip)}` }
}

/** Where those wait that a signed-in user asks for: no stranger is in that line. */
export function sessionLine(surface: Surface, sessionId: string): HashLine {
  return { holder: surface, name: `session ${sessionId}` }
}

/** Where those wait that the holder of a mailed link asks for. */
export function linkLine(surface: Surface, ticketId: string): HashLine {
  return { holder: surface, name: `link ${ticketId}` }
}

/** Where those wait that the host's code asks for. */
export const hostLine: HashLine = { holder: 'host', name: '' }
