import { isToldGuess } from '../../engine/login-risk-rules.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { createLockout } from '../limits/lockout.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { SuspicionNotices } from '../mail/assemble-mail.js'
import type { FactorLockout, MailService } from '../mail/mail-service.js'
import { networkLine, sessionLine } from '../passwords/hash-lines.js'
import { createSessionGuesses } from '../sessions/session-guesses.js'
import type { Sessions } from '../sessions/sessions.js'
import type { BackupCodeSets } from './backup-code-sets.js'
import { offeredMethods } from './offered-methods.js'
import type { TotpFactors } from './totp-factors.js'

/** The second factors that are typed. */
export type CodeMethod = 'totp' | 'backupCode'

/** A code as it was typed. */
export interface ShownCode {
  readonly method: CodeMethod
  readonly code: string
  /** The session that shows it; absent at a login. */
  readonly sessionId?: string
}

/** One place checks codes, at logins and within sessions. */
export interface CodeVerification {
  /**
   * Accepts a code and spends it. Throws `invalid_mfa_code` alike for a wrong, a used and a
   * code of a kind that is not offered, and `rate_limited` while too many were wrong. Each method has its own failure
   * counter, one for logins and one for all sessions of a user: guesses at one method lock out neither another method nor
   * the password, and those in a session lock no login. Too many in one session end it.
   */
  spend(userId: string, shown: ShownCode, source: RequestSource): Promise<void>
}

interface Deps
  extends Pick<
    SurfaceContext,
    'surface' | 'collections' | 'clock' | 'settings' | 'background' | 'emit'
  > {
  readonly limits: RateLimiter
  readonly mail: MailService
  readonly suspicions: SuspicionNotices
  readonly sessions: Pick<Sessions, 'end'>
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

export function createCodeVerification(
  deps: Deps,
  totpFactors: TotpFactors,
  backupCodeSets: BackupCodeSets,
): CodeVerification {
  const atLogins = {
    totp: createLockout(deps, 'totpFailures'),
    backupCode: createLockout(deps, 'backupCodeFailures'),
  }
  const inSessions = {
    totp: createLockout(deps, 'totpFailuresInSessions'),
    backupCode: createLockout(deps, 'backupCodeFailuresInSessions'),
  }
  const sessionGuesses = createSessionGuesses(deps, 'factorFailuresOfSession')

  /** A caller who guesses at codes knows the password or has a session: the owner should know. */
  function tellOwner(userId: string, what: FactorLockout): void {
    deps.background.run('telling the owner of a lockout', async () => {
      if (!(await deps.settings()).notifySecurityChanges) return
      const user = await deps.collections.users.get(userId)
      if (user !== null) deps.mail.secondFactorLockedOut(user, what)
    })
  }

  function tellOfFailure(facts: Facts, guess: Guess, source: RequestSource) {
    deps.emit('mfa.failed', source, facts)
    if (isToldGuess(guess)) deps.suspicions.tell(facts.userId, 'secondFactor', source)
  }

  async function check(userId: string, shown: ShownCode, source: RequestSource) {
    const { method, code, sessionId } = shown
    const methods = await offeredMethods(deps, userId)
    // Spent only where it would be accepted: a code shown at a wrong moment stays good.
    if (!methods.includes(method)) return { ok: false }
    if (method === 'totp') return { ok: await totpFactors.spend(userId, code) }
    const { surface } = deps
    const line = sessionId ? sessionLine(surface, sessionId) : networkLine(surface, source)
    const remaining = await backupCodeSets.spend(userId, code, line)
    if (remaining !== null) deps.emit('mfa.backupCodeUsed', source, { userId, remaining })
    return { ok: remaining !== null }
  }

  return {
    async spend(userId, shown, source) {
      const { method, sessionId } = shown
      const facts = { userId, method, sessionId: sessionId ?? null }
      const guess = { number: 0, mailed: false }
      const lockout = (sessionId === undefined ? atLogins : inSessions)[method]
      let forgiven = Promise.resolve()
      const attempt = async () => {
        const result = await lockout.attempt(
          userId,
          (failedBefore) => {
            guess.number = failedBefore + 1
            return check(userId, shown, source)
          },
          (_, { until, isFirst }) => {
            guess.mailed = isFirst
            deps.emit('mfa.lockedOut', source, { ...facts, until })
            if (isFirst) tellOwner(userId, { at: deps.clock.now(), method, until })
          },
          (forgiving) => {
            forgiven = forgiving
          },
        )
        // Before the session ends, which may fail.
        if (!result.ok) tellOfFailure(facts, guess, source)
        return result
      }
      const { ok } =
        sessionId === undefined
          ? await attempt()
          : await sessionGuesses.attempt({ userId, sessionId }, attempt, source)
      await forgiven
      if (!ok) throw new AuthError('invalid_mfa_code')
    },
  }
}
