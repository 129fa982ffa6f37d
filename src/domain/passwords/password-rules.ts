import type { HashLine } from '../../crypto/hash-gate.js'
import { normalizePassword, violatedRules } from '../../engine/passwords.js'
import { AuthError, type PasswordViolation } from '../../errors/index.js'
import type { Collections } from '../../model/collections.js'
import type { AuthSettings } from '../../settings/settings.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { BreachCheck } from './breach-check.js'
import type { PasswordHashes } from './password-hashes.js'

/** Whose password it is to become. */
export interface PasswordSubject {
  readonly email: string
  readonly name: string
  /** Absent for an account about to be made. */
  readonly existing?: { readonly userId: string; readonly passwordHash: string | null }
  /** Where the comparison with earlier passwords waits its turn. */
  readonly line: HashLine
}

export interface PasswordRules {
  /**
   * Throws `password_policy`, naming the violated rules, when the password may not be set, and
   * `invalid_request` for text that is not well-formed. Every service that sets a password calls this.
   */
  check(password: string, subject: PasswordSubject): Promise<void>
  /** Adds a hash about to be replaced to the user's history. Repeatable. */
  remember(userId: string, passwordHash: string): Promise<void>
}

interface Deps {
  readonly settings: () => Promise<AuthSettings>
  readonly collections: Collections
  readonly passwords: PasswordHashes
  readonly breachCheck: BreachCheck
  readonly commonPasswords: () => Promise<(password: string) => boolean>
  /** Words of the deployment: issuer, product and host names. */
  readonly contextWords: readonly string[]
}

export function createPasswordRules(deps: Deps): PasswordRules {
  const { passwordHistories } = deps.collections

  async function usedBefore(
    password: string,
    subject: PasswordSubject,
    count: number,
  ): Promise<boolean> {
    if (subject.existing === undefined || count === 0) return false
    const { userId, passwordHash } = subject.existing
    const history = (await passwordHistories.get(userId))?.hashes ?? []
    const hashes = passwordHash === null ? history : [passwordHash, ...history]
    // A change that was not completed left the current hash in the history as well.
    for (const hash of [...new Set(hashes)].slice(0, count)) {
      if ((await deps.passwords.verify(hash, password, subject.line)).ok) return true
    }
    return false
  }

  async function breached(
    password: string,
    mode: AuthSettings['passwordBreachCheck'],
  ): Promise<boolean> {
    if (mode === 'off') return false
    const verdict = await deps.breachCheck.check(password)
    if (verdict === 'unavailable' && mode === 'failClosed') {
      throw new AuthError('service_unavailable')
    }
    return verdict === 'breached'
  }

  return {
    async check(typed, subject) {
      const password = normalizePassword(typed)
      if (password === null) throw new AuthError('invalid_request')
      const settings = await deps.settings()
      const violations: PasswordViolation[] = [
        ...violatedRules({
          password,
          minLength: settings.passwordMinLength,
          blockCommon: settings.passwordBlockCommon,
          isCommon: settings.passwordBlockCommon ? await deps.commonPasswords() : () => false,
          blockContextual: settings.passwordBlockContextual,
          contextWords: [...deps.contextWords, subject.email, subject.name],
        }),
      ]
      // The slow checks only for a password that could pass.
      if (violations.length === 0) {
        if (await breached(password, settings.passwordBreachCheck)) violations.push('breached')
        else if (await usedBefore(password, subject, settings.passwordHistoryCount)) {
          violations.push('reused')
        }
      }
      if (violations.length > 0) throw policyError(violations)
    },

    async remember(userId, passwordHash) {
      const { passwordHistoryCount } = await deps.settings()
      if (passwordHistoryCount === 0) return
      await retryOnConflict(5, async () => {
        const found = await passwordHistories.get(userId)
        // If several writers race to replace one password, the first to get here did it for all.
        if (found?.hashes[0] === passwordHash) return found
        const hashes = [...new Set([passwordHash, ...(found?.hashes ?? [])])].slice(
          0,
          passwordHistoryCount,
        )
        const written =
          found === null
            ? await passwordHistories.insert({ id: userId, hashes, revision: 1, expiresAt: null })
            : await passwordHistories.update(
                userId,
                { revision: found.revision },
                { hashes, revision: found.revision + 1 },
              )
        return written || conflict
      })
    },
  }
}

function policyError(violations: readonly PasswordViolation[]): AuthError {
  const detail = `The password does not meet the policy: ${violations.join(', ')}.`
  return new AuthError('password_policy', { detail, violations })
}
