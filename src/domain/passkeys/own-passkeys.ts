import { AuthError } from '../../errors/index.js'
import type { Passkey } from '../../model/factors.js'
import type { RequestSource } from '../../ports/surface.js'
import { passkeysOfUser } from '../context/enrolled-factors.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { FactorRemoval } from '../factors/factor-removal.js'
import { endsAllBut } from '../factors/other-sessions.js'

/** A person's own passkeys, also while the settings allow none. */
export interface OwnPasskeys {
  /** Oldest first. */
  list(who: SignedIn): Promise<readonly Passkey[]>
  /**
   * Voids earlier proofs, and ends the other sessions unless `endOtherSessions` is false. Throws
   * `factor_not_found`, also for a passkey of another user, `last_factor_required` and
   * `last_login_method`. The caller has shown a second factor.
   */
  remove(
    who: SignedIn,
    credentialId: string,
    source: RequestSource,
    endOtherSessions?: boolean,
  ): Promise<void>
}

const credentialIds = /^[\w-]{1,1364}$/

export function createOwnPasskeys(
  { collections }: Pick<SurfaceContext, 'collections'>,
  removal: FactorRemoval,
): OwnPasskeys {
  return {
    async list({ user }) {
      const own = await passkeysOfUser(collections, user.id)
      return own.toSorted((one, other) => one.createdAt - other.createdAt)
    },

    async remove({ user, sessionId }, credentialId, source, endOtherSessions) {
      const others = endsAllBut({ sessionId, endOtherSessions }, true)
      const change = { change: 'passkeyRemoved', source, askedIn: sessionId, ...others } as const
      const isId = credentialIds.test(credentialId)
      if (!isId || !(await removal.removePasskey(user, credentialId, change))) {
        throw new AuthError('factor_not_found')
      }
    },
  }
}
