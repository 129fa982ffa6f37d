import type { HashLine } from '../../crypto/hash-gate.js'
import { randomToken } from '../../crypto/secrets.js'
import {
  allowedFactors,
  formatBackupCode,
  parseBackupCode,
  type SecondFactorMethod,
  usableMethods,
} from '../../engine/factors.js'
import { type GuessBudget, sharedBudget } from '../../engine/guess-budgets.js'
import { isToldGuess } from '../../engine/login-risk-rules.js'
import { AuthError } from '../../errors/index.js'
import type { BackupCodes } from '../../model/factors.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { enrolledFactors, remainingCodes } from '../context/enrolled-factors.js'
import { attemptGuess, factorGuess } from '../limits/lockout.js'
import { type FactorLockout, mailOwner, tellOwnerOfGuesses } from '../mail/mail-service.js'
import { networkLine, sessionLine } from '../passwords/password-check.js'
import { attemptInSession } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { spendTotp } from './totp-factors.js'

// One place checks codes, at logins and within sessions.

/** The second factors that are typed. */
export type CodeMethod = 'totp' | 'backupCode'

/** A code as it was typed. */
export interface ShownCode {
  readonly method: CodeMethod
  readonly code: string
  /** The session that shows it; absent at a login. */
  readonly sessionId?: string
  /** Whose guesses it counts with at a login. Default: those of the account. */
  readonly budget?: GuessBudget
}

/** What events tell of an attempt. */
interface Facts {
  readonly userId: string
  readonly method: CodeMethod
  readonly sessionId: string | null
}

interface Guess {
  readonly number: number
  /** Whether the lockout that it began has a mail. */
  readonly mailed: boolean
}

const atLogins = { totp: 'totpFailures', backupCode: 'backupCodeFailures' } as const
const inSessions = {
  totp: 'totpFailuresInSessions',
  backupCode: 'backupCodeFailuresInSessions',
} as const

/** A caller who guesses at codes knows the password or has a session: the owner should know. */
function tellOwner(ctx: SurfaceContext, userId: string, what: FactorLockout): void {
  ctx.background.run('telling the owner of a lockout', async () => {
    if (!(await ctx.settings()).notifySecurityChanges) return
    const user = await ctx.collections.users.get(userId)
    if (user !== null) void mailOwner(ctx, user, { template: 'secondFactorLockedOut', data: what })
  })
}

function tellOfFailure(ctx: SurfaceContext, facts: Facts, guess: Guess, source: RequestSource) {
  ctx.emit('mfa.failed', source, { ...facts, reason: null })
  if (isToldGuess(guess)) tellOwnerOfGuesses(ctx, facts.userId, 'secondFactor', source)
}

async function check(ctx: SurfaceContext, userId: string, shown: ShownCode, source: RequestSource) {
  const { method, code, sessionId } = shown
  const methods = await offeredMethods(ctx, userId)
  // Spent only where it would be accepted: a code shown at a wrong moment stays good.
  if (!methods.includes(method)) return { ok: false }
  if (method === 'totp') return { ok: await spendTotp(ctx, userId, code) }
  const { surface } = ctx
  const line = sessionId ? sessionLine(surface, sessionId) : networkLine(surface, source)
  const remaining = await spendBackupCode(ctx, userId, code, line)
  if (remaining !== null) ctx.emit('mfa.backupCodeUsed', source, { userId, remaining })
  return { ok: remaining !== null }
}

/**
 * Accepts a code and spends it. Throws `invalid_mfa_code` alike for a wrong, a used and a
 * code of a kind that is not offered, and `rate_limited` while too many were wrong. Each method has its own failure
 * counter, one for logins and one for all sessions of a user: guesses at one method lock out neither another method nor
 * the password, and those in a session lock no login. Too many in one session end it.
 */
export async function spendCode(
  ctx: SurfaceContext,
  userId: string,
  shown: ShownCode,
  source: RequestSource,
): Promise<void> {
  const { method, sessionId, budget = sharedBudget } = shown
  const facts = { userId, method, sessionId: sessionId ?? null }
  const guess = { number: 0, mailed: false }
  const counted =
    sessionId === undefined
      ? factorGuess(atLogins[method], userId, budget)
      : { counter: inSessions[method], subject: userId, budget: 'sessions' as const }
  let forgiven = Promise.resolve()
  const attempt = async () => {
    const result = await attemptGuess(
      ctx,
      counted,
      (failedBefore) => {
        guess.number = failedBefore + 1
        return check(ctx, userId, shown, source)
      },
      (_, { until, isFirst, budget }) => {
        guess.mailed = isFirst
        ctx.emit('mfa.lockedOut', source, { ...facts, until, budget })
        if (isFirst) tellOwner(ctx, userId, { at: ctx.clock.now(), method, until, budget })
      },
      (forgiving) => {
        forgiven = forgiving
      },
    )
    // Before the session ends, which may fail.
    if (!result.ok) tellOfFailure(ctx, facts, guess, source)
    return result
  }
  const { ok } =
    sessionId === undefined
      ? await attempt()
      : await attemptInSession(
          ctx,
          { counter: 'factorFailuresOfSession', userId, sessionId },
          attempt,
          source,
        )
  await forgiven
  if (!ok) throw new AuthError('invalid_mfa_code')
}

/** The codes to be shown, this once, and what is stored of them in the same order. */
export interface FreshCodes {
  readonly codes: readonly string[]
  readonly hashes: readonly string[]
}

/** A code spent beside ours moves the mask; there are twenty codes at most. */
const tries = 24

/** If several calls race with one code, one sets its bit; a set that was replaced meanwhile has no such code. */
async function mark(
  ctx: SurfaceContext,
  { id, setId }: BackupCodes,
  index: number,
): Promise<number | null> {
  const attempt = async () => {
    const set = await ctx.collections.backupCodes.get(id)
    if (set?.setId !== setId) return null
    const { usedMask } = set
    if ((usedMask & (1 << index)) !== 0) return null
    const used = { usedMask: usedMask | (1 << index) }
    const marked = await ctx.collections.backupCodes.update(id, { setId, usedMask }, used)
    return marked === null ? conflict : remainingCodes(marked)
  }
  return retryOnConflict(tries, attempt, () => null)
}

/** New codes, which count for nothing until they replace others. May throw `server_busy`. */
export async function generateBackupCodes(
  ctx: SurfaceContext,
  count: number,
  line: HashLine,
): Promise<FreshCodes> {
  const codes = Array.from({ length: count }, (_, index) =>
    formatBackupCode(index, ctx.random.bytes(9)),
  )
  const hashes: string[] = []
  // One after the other: a set takes one place at the gate, not ten.
  for (const code of codes) hashes.push(await ctx.passwords.hash(code, line))
  return { codes, hashes }
}

/**
 * Replaces a user's codes by these if `mayReplace` resolves with true. `mayReplace` is called right before the write,
 * and again when an older code was used meanwhile; it may void what was granted on the older codes. Resolves with the
 * id of the new set; null where `mayReplace` resolved with false.
 */
export async function replaceBackupCodes(
  ctx: SurfaceContext,
  userId: string,
  { hashes }: FreshCodes,
  mayReplace: () => Promise<boolean>,
): Promise<string | null> {
  const fields = {
    expiresAt: null,
    userId,
    hashes,
    usedMask: 0,
    setId: randomToken(ctx.random, 16),
    createdAt: ctx.clock.now(),
  }
  return retryOnConflict(tries, async () => {
    const older = await ctx.collections.backupCodes.get(userId)
    if (!(await mayReplace())) return null
    if (older === null) {
      return (await ctx.collections.backupCodes.insert({ id: userId, ...fields }))
        ? fields.setId
        : conflict
    }
    const { setId, usedMask } = older
    const replaced = await ctx.collections.backupCodes.update(userId, { setId, usedMask }, fields)
    return replaced === null ? conflict : fields.setId
  })
}

/**
 * Spends a code, at the cost of one hash whatever is typed. If several calls race with one code, one
 * succeeds. Gives the number of codes left; null for a wrong or used code.
 */
export async function spendBackupCode(
  ctx: SurfaceContext,
  userId: string,
  typed: string,
  line: HashLine,
): Promise<number | null> {
  const set = await ctx.collections.backupCodes.get(userId)
  const parsed = parseBackupCode(typed)
  const hash = parsed === null ? undefined : set?.hashes[parsed.index]
  const verdict = await ctx.passwords.verify(hash ?? null, parsed?.code ?? '', line)
  if (verdict.ok && set !== null && parsed !== null) return mark(ctx, set, parsed.index)
  await ctx.passwords.evenOut(verdict)
  return null
}

/** The methods that an account can show a second factor with now, read afresh. */
export async function offeredMethods(
  deps: Pick<SurfaceContext, 'collections' | 'settings'>,
  userId: string,
): Promise<readonly SecondFactorMethod[]> {
  const [enrolled, settings] = await Promise.all([
    enrolledFactors(deps.collections, userId),
    deps.settings(),
  ])
  return usableMethods({ enrolled, allowed: allowedFactors(settings) })
}
