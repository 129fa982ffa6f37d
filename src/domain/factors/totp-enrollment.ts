import { otpauthUri } from '../../crypto/totp.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { AuthSettings } from '../../settings/settings.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { networkLine } from '../passwords/hash-lines.js'
import type { BackupCodeSets } from './backup-code-sets.js'
import type { FactorChanges } from './factor-changes.js'
import { isUnchanged } from './is-unchanged.js'
import { requireProvedMailbox } from './require-proved-mailbox.js'
import type { TotpFactors } from './totp-factors.js'

type EnrollmentTerms = Pick<AuthSettings, 'backupCodeCount' | 'totpIssuer'>

/** How an authenticator app becomes a factor, for a person signed in or a login that lacks one. */
export interface TotpEnrollment {
  /** To be read before anything is written. Throws `mfa_method_disabled`. */
  terms(): Promise<EnrollmentTerms>
  /** A secret to be scanned. Throws `email_not_verified` and `factor_already_enrolled`. */
  begin(
    user: User,
    terms: EnrollmentTerms,
  ): Promise<{ readonly secret: string; readonly otpauthUri: string }>
  /**
   * False for a wrong code, and for an account that changed since `user` was read. Throws
   * `email_not_verified`.
   */
  confirm(user: User, code: string): Promise<boolean>
  /** What follows the confirmation: the backup codes, which are shown this once. */
  finish(userId: string, terms: EnrollmentTerms, source: RequestSource): Promise<readonly string[]>
}

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'settings'>

interface Services {
  readonly backupCodeSets: BackupCodeSets
  readonly changes: FactorChanges
  readonly totpFactors: TotpFactors
}

export function createTotpEnrollment(deps: Deps, services: Services): TotpEnrollment {
  const { collections } = deps
  const { backupCodeSets, changes, totpFactors } = services
  return {
    async terms() {
      const settings = await deps.settings()
      if (!settings.totpEnabled) throw new AuthError('mfa_method_disabled')
      return settings
    },

    async begin(user, { totpIssuer }) {
      requireProvedMailbox(user)
      const secret = await totpFactors.begin(user.id)
      return { secret, otpauthUri: otpauthUri(secret, totpIssuer, user.email) }
    },

    async confirm(user, code) {
      requireProvedMailbox(user)
      if (!(await totpFactors.confirm(user.id, code))) return false
      if (await isUnchanged(collections.users, user)) return true
      // Who was let in by what holds no more must leave nothing behind to sign in with.
      await collections.totpFactors.take(user.id)
      return false
    },

    async finish(userId, { backupCodeCount }, source) {
      // The codes of an earlier factor, if any are left, are void with this.
      const line = networkLine(deps.surface, source)
      const backupCodes = await backupCodeSets.regenerate(userId, backupCodeCount, line)
      await changes.made(userId, 'totpEnrolled', source)
      return backupCodes
    },
  }
}
