import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { MailService } from '../mail/mail-service.js'

interface IdentityChange {
  readonly actorId: string
  /** The owner, as the account is after the change. */
  readonly user: User
  readonly provider: string
  readonly change: 'linked' | 'unlinked'
}

/** Once an identity is stored or removed: an event, a record, and a mail to the owner. */
export type IdentityNotice = (change: IdentityChange, source: RequestSource) => void

interface Deps extends Pick<SurfaceContext, 'clock' | 'settings' | 'background' | 'emit'> {
  readonly mail: Pick<MailService, 'identityChanged'>
}

export function createIdentityNotice(deps: Deps): IdentityNotice {
  return ({ actorId, user, provider, change }, source) => {
    const at = deps.clock.now()
    deps.emit(`identity.${change}`, source, { at, actorId, targetId: user.id, provider })
    // Beside the request: what was changed must not be answered by a failure to read a setting.
    deps.background.run('mailing about an identity', async () => {
      const { notifySecurityChanges } = await deps.settings()
      if (notifySecurityChanges) deps.mail.identityChanged(user, { at, provider, change })
    })
  }
}
