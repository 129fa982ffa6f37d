import type { User } from '../../model/user.js'
import type { MfaChange } from '../../ports/factor-event.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { MailService } from '../mail/mail-service.js'
import { raiseDeviceEpoch } from './raise-device-epoch.js'

/** The steps after every change of a user's second factors. */
export interface FactorChanges {
  /**
   * To be called once the change stands. Voids earlier proofs and trusted devices, emits
   * `mfa.changed`, and mails the person. `actorId` defaults to the person; null means that the host's
   * code named no actor.
   */
  made(
    userId: string,
    change: MfaChange,
    source: RequestSource,
    actorId?: string | null,
  ): Promise<void>
  /** The same for a factor that `FactorEnrollment` stored, which voided earlier proofs itself. */
  enrolled(user: User, change: MfaChange, source: RequestSource): void
}

interface Deps
  extends Pick<SurfaceContext, 'collections' | 'clock' | 'settings' | 'background' | 'emit'> {
  readonly mail: MailService
}

export function createFactorChanges(deps: Deps): FactorChanges {
  const { collections, clock } = deps

  function notify(user: User, at: number, change: MfaChange): void {
    // Beside the request: what was changed must not be answered by a failure to read a setting.
    deps.background.run('mailing about a factor', async () => {
      const { notifySecurityChanges } = await deps.settings()
      if (notifySecurityChanges) deps.mail.mfaChanged(user, { at, change })
    })
  }

  return {
    async made(userId, change, source, actorId = userId) {
      const user = await raiseDeviceEpoch(collections.users, userId)
      const at = clock.now()
      deps.emit('mfa.changed', source, { at, userId, actorId, change })
      if (user !== null) notify(user, at, change)
    },

    enrolled(user, change, source) {
      const at = clock.now()
      deps.emit('mfa.changed', source, { at, userId: user.id, actorId: user.id, change })
      notify(user, at, change)
    },
  }
}
