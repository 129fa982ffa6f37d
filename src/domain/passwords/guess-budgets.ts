import { equalConstantTime, keyedHash } from '../../crypto/secrets.js'
import {
  type BudgetLogin,
  budgetOf,
  type GuessBudget,
  sharedBudget,
  signInKeyMs,
} from '../../engine/guess-budgets.js'
import type { KnownLogin } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { PastLogin } from '../../ports/risk-scorers.js'
import { clearFailures } from '../limits/lockout.js'
import { devicesIn } from '../sessions/tokens.js'
import type { SurfaceContext } from '../surface/surface-context.js'

// Finds the budget of guesses that a login has, and what gives it one.

/** What a request to sign in brings that may have guesses of its own; null without. */
export interface ShownKeys {
  readonly recognitionId: string | null
  readonly signInKey: string | null
}

/** A past login, as it is stored. */
export interface StoredLogin extends PastLogin, BudgetLogin {}

const mostKnown = 1000

/** The last ninety days of an account, one login for each device and network, newest first. */
export async function knownLoginsOf(
  ctx: SurfaceContext,
  userId: string,
): Promise<readonly StoredLogin[]> {
  const now = ctx.clock.now()
  const found = await ctx.collections.knownLogins.find({ userId }, { limit: mostKnown })
  return found
    .filter(({ expiresAt }) => expiresAt > now)
    .toSorted((a, b) => b.loginAt - a.loginAt)
    .map(storedLogin)
}

function storedLogin({ loginAt, loginMethod, ...known }: KnownLogin): StoredLogin {
  const { id: _, userId: __, expiresAt: ___, ...place } = known
  return { at: loginAt, method: loginMethod, ...place }
}

/** `found` is the account of the address, if there is one. A caller without such a key costs no look at it. */
export async function passwordBudget(
  ctx: SurfaceContext,
  { recognitionId, signInKey }: ShownKeys,
  found: Promise<readonly User[]>,
): Promise<GuessBudget> {
  const { recognisesDevices, collections, memory } = ctx
  const hasNone = devicesIn(memory.nobody, recognitionId).length === 0 && signInKey === null
  if (!recognisesDevices || hasNone) return sharedBudget
  const [user = null] = await found
  const userId = user?.id ?? memory.nobody
  const hashes = devicesIn(userId, recognitionId)
  // By each id: the whole list takes longer, which would tell the addresses that have an account.
  const known = await Promise.all(
    hashes.map((recognitionHash) =>
      collections.knownLogins.find({ userId, recognitionHash }, { limit: 1 }),
    ),
  )
  if (user === null) return sharedBudget
  const hasSignInKey = isSignInKey(ctx, user, signInKey)
  const logins = known.flat().length === 0 ? [] : await knownLoginsOf(ctx, userId)
  return budgetOf('password', { hashes, hasSignInKey }, logins, user)
}

/** What the caller who just set a password may sign in with, beside strangers who guess at it. */
export interface SignInKey {
  /** Opaque. It opens nothing. */
  readonly signInKey: string
  /** Whole seconds. */
  readonly expiresIn: number
}

/** Under a secret that no caller knows and that each change of the password replaces. */
function keyOf({ id, credentialEpoch, passwordChangedAt, passwordHash }: User): string | null {
  if (passwordHash === null) return null
  return keyedHash(
    passwordHash,
    JSON.stringify(['sign-in', id, credentialEpoch, passwordChangedAt]),
  )
}

function endOf({ passwordChangedAt }: User): number {
  return (passwordChangedAt ?? 0) + signInKeyMs
}

/** Null where devices are not recognised, and an hour after the change. */
export function signInKeyOf(ctx: SurfaceContext, user: User): SignInKey | null {
  const signInKey = ctx.recognisesDevices ? keyOf(user) : null
  const expiresIn = Math.floor((endOf(user) - ctx.clock.now()) / 1000)
  return signInKey === null || expiresIn <= 0 ? null : { signInKey, expiresIn }
}

export function isSignInKey(ctx: SurfaceContext, user: User, shown: string | null): boolean {
  const own = signInKeyOf(ctx, user)
  return own !== null && equalConstantTime(own.signInKey, shown ?? '')
}

/** Forgets every guess at these secrets of a user, on whichever device. Failures of the counter are logged only. */
export async function clearGuesses(
  ctx: SurfaceContext,
  user: Pick<User, 'id' | 'email'>,
  ...secrets: readonly ('password' | 'factor')[]
): Promise<void> {
  const logins = await knownLoginsOf(ctx, user.id)
  const hashes = logins.flatMap(({ recognitionHash }) => recognitionHash ?? [])
  await clearFailures(ctx.limits, user, [...new Set(hashes)], secrets)
}
