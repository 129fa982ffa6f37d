import { AuthError } from '../../errors/index.js'
import type { TrustedDevice } from '../../model/factors.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import { requireProvedMailbox } from './require-proved-mailbox.js'
import type { DeviceGrant, TrustedDevices } from './trusted-devices.js'

/** A trusted device, as its owner sees it. */
export interface ListedDevice
  extends Pick<TrustedDevice, 'id' | 'name' | 'createdAt' | 'lastUsedAt' | 'expiresAt'> {
  /** The one that asks, by its cookie or by the login of its session. */
  readonly current: boolean
}

/** Lists, adds and removes the trusted devices of a signed-in user. */
export interface DeviceTrust {
  /**
   * Throws `mfa_method_disabled` and `email_not_verified`, and what `sessionRefusal` gives when the session that asks
   * was ended meanwhile: nothing is trusted then. The caller has shown a second factor.
   */
  trust(who: SignedIn, name: string, source: RequestSource): Promise<DeviceGrant>
  list(who: SignedIn, deviceCookie: string | null): Promise<readonly ListedDevice[]>
  /**
   * True when it was the browser's own, whose cookie is worthless now. Throws `device_not_found`,
   * also for a device of another user.
   */
  revoke(
    who: SignedIn,
    deviceId: string,
    deviceCookie: string | null,
    source: RequestSource,
  ): Promise<boolean>
}

interface Deps extends Pick<SurfaceContext, 'collections' | 'emit'> {
  readonly judge: Pick<IntentJudge, 'sessionRefusal'>
}

export function createDeviceTrust(deps: Deps, devices: TrustedDevices): DeviceTrust {
  const { sessions } = deps.collections

  return {
    async trust({ user, sessionId }, name, source) {
      await devices.requireAllowed()
      requireProvedMailbox(user)
      const deviceId = devices.nextId()
      // First: a session that names no device is worse off than one that names a device never made.
      await sessions.update(sessionId, { active: true }, { deviceId })
      const grant = await devices.issue(user, deviceId, name)
      // Asked last: the owner may have ended this session meanwhile, and a thief must not keep a trusted device.
      const refusal = await deps.judge.sessionRefusal(user, sessionId)
      if (refusal !== null) {
        await devices.revoke(user, deviceId)
        throw refusal
      }
      devices.announce({ user, sessionId }, deviceId, source)
      return grant
    },

    async list({ user, sessionId }, deviceCookie) {
      const [trusted, session] = await Promise.all([devices.list(user), sessions.get(sessionId)])
      const shown = devices.idOf(deviceCookie)
      const own = trusted.some(({ id }) => id === shown) ? shown : session?.deviceId
      return trusted.map(({ id, name, createdAt, lastUsedAt, expiresAt }) => ({
        id,
        name,
        createdAt,
        lastUsedAt,
        expiresAt,
        current: id === own,
      }))
    },

    async revoke({ user, sessionId }, deviceId, deviceCookie, source) {
      if (!(await devices.revoke(user, deviceId))) throw new AuthError('device_not_found')
      deps.emit('device.revoked', source, { userId: user.id, sessionId, deviceId })
      return devices.idOf(deviceCookie) === deviceId
    },
  }
}
