import { equalConstantTime, isUuid, randomToken, sha256, uuidv7 } from '../../crypto/secrets.js'
import { isTrusted, trustedUntil } from '../../engine/factors.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { TrustedDevice } from '../../model/factors.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { newestFirst } from '../../stores/newest-first.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { MailService } from '../mail/mail-service.js'
import { requireProvedMailbox } from './require-proved-mailbox.js'

/** A grant as the device that was trusted holds it. */
export interface DeviceGrant {
  readonly deviceId: string
  /** Opaque; 32 random bytes behind a locator. Not stored. */
  readonly deviceToken: string
  readonly name: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** Whole seconds left. */
  readonly expiresIn: number
}

/** The devices people trust to skip the second factor, and that alone. */
export interface TrustedDevices {
  /** Throws `mfa_method_disabled` where the surface trusts no devices. */
  requireAllowed(): Promise<void>
  /**
   * The grant of a token, if this user's second factor may be skipped by it; null for no token, any
   * other text, and where the surface trusts no devices. Notes the use, once an hour at most.
   */
  recognise(user: User, token: string | null | undefined): Promise<TrustedDevice | null>
  /** An id for a grant to come, so that a session can name it. */
  nextId(): string
  /** Trusts a device; where there are more than twenty, it forgets the oldest. Throws `email_not_verified`. */
  issue(user: User, id: string, name: string): Promise<DeviceGrant>
  /** Tells of a device that is trusted from now on: the event, and beside the request its owner. */
  announce(
    who: { readonly user: User; readonly sessionId: string },
    deviceId: string,
    source: RequestSource,
  ): void
  /** What the user trusts now, newest first. */
  list(user: User): Promise<readonly TrustedDevice[]>
  /** Forgets one; false when the user has no such grant. */
  revoke(user: User, id: string): Promise<boolean>
  /** The id a token names, for a caller who asks whether it is a certain one; null for other text. */
  idOf(token: string | null): string | null
}

interface Deps
  extends Pick<
    SurfaceContext,
    'surface' | 'collections' | 'clock' | 'random' | 'settings' | 'background' | 'emit'
  > {
  readonly mail: Pick<MailService, 'deviceTrusted'>
}

const mostPerUser = 20

/** A login need not write more often only to say that the device is in use. */
const usedEveryMs = 60 * 60 * 1000

export function createTrustedDevices(deps: Deps): TrustedDevices {
  const { surface, clock, random } = deps
  const { trustedDevices } = deps.collections

  async function policy() {
    const settings = await deps.settings()
    return {
      allowed: settingsFor(surface, settings).trustedDeviceEnabled,
      ttlMs: settings.trustedDeviceTTL,
    }
  }

  /** Guarded: a grant that was revoked meanwhile is not there to be used. */
  async function noteUse(device: TrustedDevice, now: number): Promise<TrustedDevice | null> {
    if (now - (device.lastUsedAt ?? 0) < usedEveryMs) return device
    const { id, deviceEpoch } = device
    return trustedDevices.update(id, { deviceEpoch }, { lastUsedAt: now })
  }

  async function trim(userId: string): Promise<void> {
    let kept = 0
    for await (const { id } of newestFirst(trustedDevices, { userId })) {
      kept += 1
      if (kept > mostPerUser) await trustedDevices.take(id)
    }
  }

  return {
    async requireAllowed() {
      if (!(await policy()).allowed) throw new AuthError('mfa_method_disabled')
    },

    async recognise(user, token) {
      const parsed = parse(token ?? '')
      if (parsed === null) return null
      const { allowed, ttlMs } = await policy()
      if (!allowed) return null
      const device = await trustedDevices.get(parsed.id)
      const isGenuine =
        device !== null && equalConstantTime(device.secretHash, sha256(parsed.secret))
      const now = clock.now()
      if (!isGenuine || !isTrusted(device, { user, now, ttlMs })) return null
      return noteUse(device, now)
    },

    nextId: () => uuidv7(clock.now(), random),

    async issue(user, id, name) {
      requireProvedMailbox(user)
      const { ttlMs } = await policy()
      const secret = randomToken(random)
      const now = clock.now()
      const expiresAt = now + ttlMs
      const stored = await trustedDevices.insert({
        id,
        userId: user.id,
        secretHash: sha256(secret),
        name,
        deviceEpoch: user.deviceEpoch,
        createdAt: now,
        lastUsedAt: null,
        expiresAt,
      })
      if (!stored) throw new AuthError('service_unavailable')
      await trim(user.id)
      const expiresIn = Math.floor(ttlMs / 1000)
      return { deviceId: id, deviceToken: `${id}.${secret}`, name, expiresAt, expiresIn }
    },

    announce({ user, sessionId }, deviceId, source) {
      deps.emit('device.trusted', source, { userId: user.id, sessionId, deviceId })
      const at = clock.now()
      deps.background.run('telling the owner of a trusted device', async () => {
        const { notifySecurityChanges } = await deps.settings()
        if (notifySecurityChanges) deps.mail.deviceTrusted(user, { at, ...source })
      })
    },

    async list(user) {
      const { ttlMs } = await policy()
      const found = await trustedDevices.find(
        { userId: user.id },
        { limit: 5 * mostPerUser, newestFirst: true },
      )
      const live = found.filter((device) => isTrusted(device, { user, now: clock.now(), ttlMs }))
      return live.map((device) => ({ ...device, expiresAt: trustedUntil(device, ttlMs) }))
    },

    async revoke(user, id) {
      return isUuid(id) && (await trustedDevices.take(id, { userId: user.id })) !== null
    },

    idOf: (token) => parse(token ?? '')?.id ?? null,
  }
}

/** Anything else was never handed out, and no store is asked for it. */
function parse(token: string): { readonly id: string; readonly secret: string } | null {
  const [id = '', secret = '', ...rest] = token.split('.')
  return isUuid(id) && /^[\w-]{43}$/.test(secret) && rest.length === 0 ? { id, secret } : null
}
