import { sha256 } from '../../crypto/secrets.js'
import { otpauthUri } from '../../crypto/totp.js'
import { AuthError } from '../../errors/index.js'
import type { EnrollmentNotice } from '../../model/factors.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import type { SpentIntent } from '../intents/spent-intent.js'
import { networkLine } from '../passwords/hash-lines.js'
import type { BackupCodeSets, FreshCodes } from './backup-code-sets.js'
import type { FactorChanges } from './factor-changes.js'
import type { EnrolledUser, EnrollmentPlace, FactorEnrollment } from './factor-enrollment.js'
import { requireProvedMailbox } from './require-proved-mailbox.js'
import type { PendingTotp, TotpFactors } from './totp-factors.js'

export type EnrollmentTerms = Pick<AuthSettings, 'backupCodeCount' | 'totpIssuer'>

/** How an authenticator app becomes a factor, for a person signed in or a login that lacks one. */
export interface TotpEnrollment {
  /** To be read before anything is written. Throws `mfa_method_disabled`. */
  terms(): Promise<EnrollmentTerms>
  /** A secret to be scanned. Throws `email_not_verified` and `factor_already_enrolled`. */
  begin(
    user: User,
    boundTo: string,
    terms: EnrollmentTerms,
  ): Promise<{ readonly secret: string; readonly otpauthUri: string }>
  /**
   * Null for a wrong code, one from another session or login than the secret was shown in, and an
   * account that changed since. Throws `email_not_verified`, and `session_revoked` or `session_max_age_reached` where the session has ended.
   */
  confirm(user: User, shown: ShownTotp, place: EnrollmentPlace): Promise<ConfirmedTotp | null>
  /**
   * What follows the confirmation: the mail to the owner, and the backup codes, which are shown this once. None, where the
   * factors or the password of the account were changed while they were made. Throws `invalid_mfa_code` where the app was
   * removed again.
   */
  finish(
    confirmed: ConfirmedTotp,
    terms: EnrollmentTerms,
    source: RequestSource,
  ): Promise<readonly string[]>
}

/** A code, and the session or the login that shows it. */
export interface ShownTotp {
  readonly boundTo: string
  readonly code: string
}

export interface ConfirmedTotp extends EnrolledUser {
  readonly intent: SpentIntent<'totpEnrollment'>
}

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'settings'>

interface Services {
  readonly backupCodeSets: BackupCodeSets
  readonly changes: FactorChanges
  readonly enrollment: FactorEnrollment
  readonly judge: IntentJudge
  readonly totpFactors: TotpFactors
}

export function createTotpEnrollment(deps: Deps, services: Services): TotpEnrollment {
  const { collections } = deps
  const { backupCodeSets, changes, enrollment, judge, totpFactors } = services

  /** Null for what the judge refuses: callers say the same of whatever is wrong with a code. */
  async function opened({ factor, expiresAt }: PendingTotp, user: User) {
    const { userId, sealedSecret, credentialEpoch, deviceEpoch } = factor
    const epochs = { credentialEpoch, deviceEpoch }
    const facts = { id: sha256(sealedSecret), userId, ...epochs, expiresAt }
    try {
      return await judge.open('totpEnrollment', facts, factor, user)
    } catch (error) {
      if (error instanceof AuthError && error.code === 'invalid_mfa_code') return null
      throw error
    }
  }

  /**
   * The codes took their time to hash, in a queue that may be long. A request that removes the factor meanwhile, or makes
   * other codes, moves the epoch first and looks at the codes then, so one of the two requests sees the other.
   */
  async function isStored(user: User, fresh: FreshCodes): Promise<boolean> {
    const isUnchanged = async () =>
      (await collections.users.get(user.id))?.deviceEpoch === user.deviceEpoch
    // The codes of an earlier factor, if any are left, are void with this.
    const setId = await backupCodeSets.replace(user.id, fresh, isUnchanged)
    if (setId === null) return false
    let stands = false
    try {
      stands = await isUnchanged()
    } finally {
      if (!stands) await collections.backupCodes.take(user.id, { setId })
    }
    return stands
  }

  /** The app may stand: then it was confirmed, and only the codes are still to be made. */
  async function noneFor({ id }: User): Promise<readonly string[]> {
    const factor = await collections.totpFactors.get(id)
    if (factor?.confirmed !== true) throw new AuthError('invalid_mfa_code')
    return []
  }

  return {
    async terms() {
      const settings = await deps.settings()
      if (!settings.totpEnabled) throw new AuthError('mfa_method_disabled')
      return settings
    },

    async begin(user, boundTo, { totpIssuer }) {
      requireProvedMailbox(user)
      const secret = await totpFactors.begin(user, boundTo)
      return { secret, otpauthUri: await otpauthUri(secret, totpIssuer, user.email) }
    },

    async confirm(user, { boundTo, code }, place) {
      requireProvedMailbox(user)
      const pending = await totpFactors.pending(user.id)
      if (pending?.factor.boundTo !== boundTo) return null
      const intent = await opened(pending, user)
      if (intent === null) return null
      const matched = await totpFactors.match(pending.factor, code)
      if (matched === null) return null
      const spent = judge.spend(intent)
      const write = {
        store: (notice: EnrollmentNotice) => totpFactors.confirm(matched, notice),
        takeBack: ({ enrollmentId }: EnrollmentNotice) =>
          collections.totpFactors.take(user.id, { enrollmentId }),
        mark: ({ enrollmentId }: EnrollmentNotice, to: string) =>
          collections.totpFactors.update(user.id, { enrollmentId }, { enrollmentId: to }),
        told: ({ expiresAt }: EnrollmentNotice) =>
          collections.totpFactors.update(
            user.id,
            { expiresAt },
            { expiresAt: null, enrollmentId: null },
          ),
      }
      const enrolled = await enrollment.enroll(spent, write, place)
      return enrolled === null ? null : { ...enrolled, intent: spent }
    },

    async finish({ user, others, told }, { backupCodeCount }, source) {
      // At once: the codes take their time, and may fail, and the owner is to be told of the app all the same.
      await changes.enrolled(user, { change: 'totpEnrolled', source, ...others, told })
      const line = networkLine(deps.surface, source)
      const fresh = await backupCodeSets.generate(backupCodeCount, line)
      if (!(await isStored(user, fresh))) return noneFor(user)
      return fresh.codes
    },
  }
}
