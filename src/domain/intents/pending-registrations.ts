import { randomToken, sha256, uuidv7 } from '../../crypto/secrets.js'
import { registrationKeys } from '../../engine/accounts.js'
import { keptKeys } from '../../engine/login-risk-rules.js'
import { AuthError } from '../../errors/index.js'
import type { PendingRegistration } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { isOfAddress, isStripped } from './stripped-registration.js'

/** What a person registers with. */
export type Registered = Pick<
  PendingRegistration,
  'email' | 'emailAsTyped' | 'passwordHash' | 'name' | 'termsVersion'
>

export interface KeptRegistration {
  readonly registration: PendingRegistration
  /** What the browser or app keeps from now on in place of what it showed. Opaque; not stored. */
  readonly registrationKey: string
}

/**
 * Registrations whose mailbox is not proved. Each is bound to the browser or app that made it by a
 * random key; `shown` is what that keeps, null without. What has expired counts as not there.
 */
export interface PendingRegistrations {
  /**
   * Stores one, and takes away an earlier one of the same address from the same browser or app. The
   * key is always a new one: what was shown may have been planted. The keys of other addresses go on if
   * something live was registered with them.
   */
  keep(registered: Registered, shown: string | null, lifeMs: number): Promise<KeptRegistration>
  /** The one of this address that was made by the browser or app that shows this. */
  boundTo(shown: string | null, email: string): Promise<PendingRegistration | null>
  /** Whether the browser or app that shows this registered the address, whatever became of an account that it had. */
  wasMadeBy(shown: string | null, email: string): Promise<boolean>
  /** The newest of this address. */
  ofAddress(email: string): Promise<PendingRegistration | null>
  /** The one of this user to be. */
  ofUser(userId: string): Promise<PendingRegistration | null>
  take(registration: Pick<PendingRegistration, 'id'>): Promise<boolean>
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'random'>

export function createPendingRegistrations(deps: Deps): PendingRegistrations {
  const { clock, random } = deps
  const { pendingRegistrations } = deps.collections

  const isLive = ({ expiresAt }: PendingRegistration): boolean => expiresAt > clock.now()

  async function ofKey(key: string): Promise<PendingRegistration | null> {
    const [found] = await pendingRegistrations.find({ keyHash: sha256(key) }, { limit: 1 })
    return found ?? null
  }

  /** The keys shown that something was registered with, and what that is. */
  async function known(shown: string | null) {
    const all = await Promise.all(
      registrationKeys(shown).map(async (key) => ({ key, of: await ofKey(key) })),
    )
    return all.flatMap(({ key, of }) => (of === null ? [] : [{ key, of }]))
  }

  async function live(shown: string | null, email: string) {
    const all = await known(shown)
    return all.map(({ of }) => of).filter((of) => isLive(of) && isOfAddress(of, email))
  }

  return {
    async keep(registered, shown, lifeMs) {
      const now = clock.now()
      const earlier = await known(shown)
      const key = randomToken(random)
      const registration: PendingRegistration = {
        id: uuidv7(now, random),
        method: 'password',
        ...registered,
        keyHash: sha256(key),
        createdAt: now,
        expiresAt: now + lifeMs,
      }
      if (!(await pendingRegistrations.insert(registration))) {
        throw new AuthError('service_unavailable')
      }
      // Last: a crash before leaves the earlier one to the key that the browser still has.
      for (const { of } of earlier) {
        if (isOfAddress(of, registered.email)) await pendingRegistrations.take(of.id)
      }
      const others = earlier.filter(({ of }) => isLive(of) && !isOfAddress(of, registered.email))
      const registrationKey = keptKeys(
        key,
        others.map((other) => other.key),
      )
      return { registration, registrationKey }
    },

    async boundTo(shown, email) {
      const own = await live(shown, email)
      return own.find((registration) => !isStripped(registration)) ?? null
    },

    async wasMadeBy(shown, email) {
      return (await live(shown, email)).length > 0
    },

    async ofAddress(email) {
      const [newest] = await pendingRegistrations.find({ email }, { limit: 1, newestFirst: true })
      return newest !== undefined && isLive(newest) ? newest : null
    },

    async ofUser(userId) {
      const found = await pendingRegistrations.get(userId)
      return found !== null && isLive(found) && !isStripped(found) ? found : null
    },

    async take({ id }) {
      return (await pendingRegistrations.take(id)) !== null
    },
  }
}
