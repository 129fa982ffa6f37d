import { ahead } from '../../concurrency/promises.js'
import type { HashLine } from '../../crypto/hash-gate.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { describeError } from '../../errors/index.js'
import type { Ticket } from '../../model/intents.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { createLockout } from '../limits/lockout.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { createSessionGuesses } from '../sessions/session-guesses.js'
import type { Sessions } from '../sessions/sessions.js'
import { linkLine, networkLine, sessionLine } from './hash-lines.js'
import type { PasswordHashes } from './password-hashes.js'

/** What came of a guess at the password of an address. */
export interface CheckedAddress<T> {
  readonly ok: boolean
  /** Null for an address without an account. */
  readonly user: User | null
  /** What was read beside the check. */
  readonly beside: T
  /** Wrong guesses at this address that were counted right before. */
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

/**
 * The one place that compares a password with the stored hash. Logins share one counter per address;
 * sessions and mailed links have one each, which no stranger can use up. A guess is counted before it is
 * checked, and a check that could not be made hands its guess back. Each costs one hash verification,
 * whatever is wrong. Throws `rate_limited` and `server_busy`.
 */
export interface PasswordCheck {
  /** Whether it is the password of this user, asked by the holder of a mailed link. */
  ofLink(link: Pick<Ticket, 'id'>, user: User, password: string): Promise<boolean>
  /** The same for a signed-in user. The guess that reaches the limit ends the session. */
  ofSession(who: PasswordOwner, password: string, source: RequestSource): Promise<boolean>
  /**
   * Whether a person may log in with this address and password; alike for an unknown address, a
   * wrong password, and an account that is disabled, a machine's or without a password. `beside`
   * reads while the hash is verified. The guess that reaches the
   * limit emits `login.lockedOut`.
   */
  ofAddress<T>(
    typed: string,
    password: string,
    source: RequestSource,
    beside: (user: User | null) => Promise<T>,
  ): Promise<CheckedAddress<T>>
  /** Forgets all failures at an address: the owner was proved by other means. */
  clear(address: string): Promise<void>
}

interface Deps
  extends Pick<SurfaceContext, 'surface' | 'collections' | 'settings' | 'emit' | 'logger'> {
  readonly limits: RateLimiter
  readonly passwords: PasswordHashes
  readonly sessions: Pick<Sessions, 'end'>
}

export function createPasswordCheck(deps: Deps): PasswordCheck {
  const { users } = deps.collections
  const lockout = createLockout(deps, 'passwordFailures')
  const ofLinks = createLockout(deps, 'passwordFailuresOfLink')
  const ofSessions = createSessionGuesses(deps, 'passwordFailuresOfSession')

  /** A refusal takes as long as any. */
  async function verify(hash: string | null, password: string, line: HashLine) {
    const verdict = await deps.passwords.verify(hash, password, line)
    if (!verdict.ok) await deps.passwords.evenOut(verdict)
    return verdict
  }

  /** Transparent: whatever goes wrong here, the check succeeds. */
  async function upgrade(user: User, hashAgain: () => Promise<string>): Promise<void> {
    try {
      const passwordHash = await hashAgain()
      // Compare-and-set on the old hash: a password changed meanwhile stays as it is.
      await users.update(user.id, { passwordHash: user.passwordHash }, { passwordHash })
    } catch (error) {
      deps.logger.warn('a weak password hash could not be upgraded', describeError(error))
    }
  }

  return {
    async ofLink({ id }, { passwordHash }, password) {
      const line = linkLine(deps.surface, id)
      const check = () => verify(passwordHash, password, line)
      const { ok } = await ofLinks.attempt(id, check, () => {})
      return ok
    },

    async ofSession({ user, sessionId }, password, source) {
      const line = sessionLine(deps.surface, sessionId)
      const check = () => verify(user.passwordHash, password, line)
      const { ok } = await ofSessions.attempt({ userId: user.id, sessionId }, check, source)
      return ok
    },

    async ofAddress(typed, password, source, beside) {
      const email = canonicalEmail(typed)
      const address = email ?? typed.slice(0, 320)
      const line = networkLine(deps.surface, source)
      // Beside the count, which is judged first: a guess too many is refused whatever this gives.
      const found = ahead(
        email === null ? Promise.resolve([]) : users.find({ email }, { limit: 1 }),
      )
      const check = async (failedAttempts: number) => {
        const [user = null] = await found
        const [verdict, read] = await Promise.all([
          deps.passwords.verify(user?.passwordHash ?? null, password, line),
          // Beside the hash, which mostly takes longer. Without an account as well: where the store
          // is the slower one, addresses with an account would take longer than those without.
          beside(user),
        ])
        const ok = verdict.ok && user?.enabled === true && isHuman(user)
        if (!ok) await deps.passwords.evenOut(verdict)
        return { ok, user, beside: read, failedAttempts, rehashTo: verdict.rehashTo }
      }
      let forgiven = Promise.resolve()
      const { rehashTo, ...checked } = await lockout.attempt(
        address,
        check,
        ({ user }, { until }) =>
          deps.emit('login.lockedOut', source, { userId: user?.id ?? null, until }),
        (forgiving) => {
          forgiven = forgiving
        },
      )
      const { ok, user } = checked
      const isDue = ok && user !== null && rehashTo !== null
      const upgradeIt = async () => {
        if (isDue) await upgrade(user, () => deps.passwords.rehash(password, rehashTo, line))
      }
      return { ...checked, upgrade: upgradeIt, forgiven }
    },

    clear: (address) => lockout.clear(address),
  }
}
