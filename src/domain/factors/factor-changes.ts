import type { User } from '../../model/user.js'
import type { MfaChange } from '../../ports/factor-event.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { MailService } from '../mail/mail-service.js'
import type { Sessions } from '../sessions/sessions.js'
import { raiseDeviceEpoch } from './raise-device-epoch.js'

/** A change of a user's second factors that stands. */
export interface FactorChange {
  readonly change: MfaChange
  readonly source: RequestSource
  /** The person, unless it is given; null means that the host's code named no actor. */
  readonly actorId?: string | null
  /** Ends all sessions but this one, which may be a login that has none yet; left out, none. */
  readonly endsAllBut?: { readonly sessionId: string }
}

/** The steps after every change of a user's second factors. */
export interface FactorChanges {
  /**
   * To be called once the change stands. Voids earlier proofs and trusted devices, emits
   * `mfa.changed`, mails the person, and ends the other sessions where the change says so.
   */
  made(userId: string, change: FactorChange): Promise<void>
  /**
   * The same for a factor that `FactorEnrollment` stored, which voided earlier proofs itself, and what
   * the other sessions could be refreshed with.
   */
  enrolled(user: User, change: FactorChange): Promise<void>
}

interface Deps
  extends Pick<SurfaceContext, 'collections' | 'clock' | 'settings' | 'background' | 'emit'> {
  readonly mail: MailService
  readonly sessions: Sessions
}

export function createFactorChanges(deps: Deps): FactorChanges {
  const { collections, clock, sessions } = deps

  function notify(user: User, at: number, change: MfaChange): void {
    // Beside the request: what was changed must not be answered by a failure to read a setting.
    deps.background.run('mailing about a factor', async () => {
      const { notifySecurityChanges } = await deps.settings()
      if (notifySecurityChanges) deps.mail.mfaChanged(user, { at, change })
    })
  }

  async function tell(
    userId: string,
    user: User | null,
    { change, source, actorId = userId, endsAllBut }: FactorChange,
  ): Promise<void> {
    const at = clock.now()
    deps.emit('mfa.changed', source, { at, userId, actorId, change })
    if (user !== null) notify(user, at, change)
    if (endsAllBut === undefined) return
    await sessions.endAll(userId, 'factor_change', source, { except: endsAllBut.sessionId })
  }

  return {
    async made(userId, change) {
      const user = await raiseDeviceEpoch(collections.users, userId, change.endsAllBut)
      await tell(userId, user, change)
    },

    enrolled: (user, change) => tell(user.id, user, change),
  }
}
