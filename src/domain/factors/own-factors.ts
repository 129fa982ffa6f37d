import { hasFactor } from '../../engine/factors.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { sessionLine } from '../passwords/hash-lines.js'
import type { BackupCodeSets } from './backup-code-sets.js'
import type { CodeVerification, ShownCode } from './code-verification.js'
import type { FactorChanges } from './factor-changes.js'
import type { FactorRemoval } from './factor-removal.js'
import { endsAllBut } from './other-sessions.js'
import { requireProvedMailbox } from './require-proved-mailbox.js'
import type { StepUp } from './step-up.js'

export interface MfaStatus {
  readonly policy: 'off' | 'optional' | 'required'
  readonly totp: { readonly enrolled: boolean }
  readonly backupCodes: { readonly remaining: number }
  /** How many there are. */
  readonly passkeys: number
  /** Epoch milliseconds of this session's last proof; null without one that counts. */
  readonly provedAt: number | null
}

/** What a person signed in does with their authenticator app and backup codes. */
export interface OwnFactors {
  status(who: SignedIn): Promise<MfaStatus>
  /**
   * Ends the other sessions unless `endOtherSessions` is false. Throws `factor_not_found` and
   * `last_factor_required`. The caller has shown a second factor.
   */
  removeTotp(who: SignedIn, source: RequestSource, endOtherSessions?: boolean): Promise<void>
  /**
   * A new set; the old one is void. Ends the other sessions if `endOtherSessions` is true. Throws
   * `email_not_verified`, `factor_not_found` without any factor, what `sessionRefusal` gives where the
   * session ended while the codes were made, and `step_up_required` where its proof was voided meanwhile.
   */
  regenerateBackupCodes(
    who: SignedIn,
    source: RequestSource,
    endOtherSessions?: boolean,
  ): Promise<readonly string[]>
  /** Epoch milliseconds of the proof. Throws `factor_not_found`, `invalid_mfa_code`, what `sessionRefusal` gives. */
  stepUp(who: SignedIn, shown: ShownCode, source: RequestSource): Promise<number>
}

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'settings' | 'emit'>

interface Services {
  readonly backupCodeSets: BackupCodeSets
  readonly changes: FactorChanges
  readonly codeVerification: CodeVerification
  readonly removal: FactorRemoval
  readonly stepUp: StepUp
}

export function createOwnFactors(deps: Deps, services: Services): OwnFactors {
  const { surface, collections } = deps
  const { backupCodeSets, changes, codeVerification, removal, stepUp } = services
  return {
    async status({ user, sessionId }) {
      const [settings, enrolled, provedAt] = await Promise.all([
        deps.settings(),
        enrolledFactors(collections, user.id),
        stepUp.provedAt(user, sessionId),
      ])
      return {
        policy: settingsFor(surface, settings).mfaPolicy,
        totp: { enrolled: enrolled.totp },
        backupCodes: { remaining: enrolled.backupCodes },
        passkeys: enrolled.passkeys,
        provedAt,
      }
    },

    async removeTotp({ user, sessionId }, source, endOtherSessions) {
      const others = endsAllBut({ sessionId, endOtherSessions }, true)
      const change = { change: 'totpRemoved', source, askedIn: sessionId, ...others } as const
      if (!(await removal.removeTotp(user, change))) throw new AuthError('factor_not_found')
    },

    async regenerateBackupCodes({ user, sessionId }, source, endOtherSessions) {
      requireProvedMailbox(user)
      const { backupCodeCount } = await deps.settings()
      const enrolled = await enrolledFactors(collections, user.id)
      if (!hasFactor(enrolled)) throw new AuthError('factor_not_found')
      const others = endsAllBut({ sessionId, endOtherSessions }, false)
      const asked = { source, askedIn: sessionId, ...others }
      const change = { change: 'backupCodesRegenerated', ...asked } as const
      const fresh = await backupCodeSets.generate(backupCodeCount, sessionLine(surface, sessionId))
      // The codes took their time to hash, in a queue that may be long.
      let retired: Pick<User, 'id' | 'deviceEpoch'> | null = user
      const mayReplace = async () => {
        retired = retired === null ? null : await changes.retire(retired, change)
        return retired !== null
      }
      const setId = await backupCodeSets.replace(user.id, fresh, mayReplace)
      if (setId === null) throw new AuthError('session_revoked')
      changes.made(user, change)
      return fresh.codes
    },

    async stepUp(who, shown, source) {
      const { user, sessionId } = who
      const { method } = shown
      const enrolled = await enrolledFactors(collections, user.id)
      const has = method === 'totp' ? enrolled.totp : hasFactor(enrolled)
      if (!has) throw new AuthError('factor_not_found')
      await stepUp.requireSession(who)
      await codeVerification.spend(user.id, { ...shown, sessionId }, source)
      const provedAt = await stepUp.record(user, sessionId, method)
      deps.emit('mfa.steppedUp', source, { userId: user.id, sessionId, method })
      return provedAt
    },
  }
}
