import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { ReAuthentication } from '../factors/re-authentication.js'
import type { MailService } from '../mail/mail-service.js'
import type { AccountDeletions } from './account-deletions.js'

/** The deletion of an account by its owner. */
export interface SelfDeletion {
  /**
   * Throws `account_deletion_disabled`, and what re-authentication throws: nothing is deleted where the owner took the
   * account back meanwhile. After any other rejection the account may be closed already, and is then deleted by the
   * process that sweeps.
   */
  delete(who: SignedIn, currentPassword: string | undefined, source: RequestSource): Promise<void>
}

interface Deps extends Pick<SurfaceContext, 'surface' | 'clock' | 'settings'> {
  readonly mail: MailService
}

export function createSelfDeletion(
  { surface, clock, settings: read, mail }: Deps,
  deletions: AccountDeletions,
  reAuthentication: ReAuthentication,
): SelfDeletion {
  return {
    async delete(who, currentPassword, source) {
      // Before anything is written: what was deleted must not be answered by a failure.
      const settings = await read()
      if (!settingsFor(surface, settings).accountDeletionEnabled) {
        throw new AuthError('account_deletion_disabled')
      }
      const refusalSince = await reAuthentication.require(who, currentPassword, source)
      const act = { actorId: who.user.id, source }
      const finisher = await deletions.delete(who.user.id, act, refusalSince)
      // If two requests come at once, one tells the owner.
      const tells = finisher === 'this' && settings.notifySecurityChanges
      if (tells) mail.accountDeleted(who.user, clock.now())
    },
  }
}
