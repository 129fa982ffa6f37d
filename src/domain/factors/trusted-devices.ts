import { equalConstantTime, isUuid, randomToken, sha256, uuidv7 } from '../../crypto/secrets.js'
import { isTrusted, trustedUntil } from '../../engine/factors.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { TrustedDevice } from '../../model/factors.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { newestFirst } from '../../stores/pages.js'
import type { SignedIn } from '../context/actor.js'
import { sessionRefusal } from '../intents/intents.js'
import { mailOwner } from '../mail/mail-service.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { requireProvedMailbox } from './factor-changes.js'

// The devices people trust to skip the second factor, and that alone.

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

const mostPerUser = 20

/** A login need not write more often only to say that the device is in use. */
const usedEveryMs = 60 * 60 * 1000

async function policy(ctx: SurfaceContext) {
  const settings = await ctx.settings()
  return {
    allowed: settingsFor(ctx.surface, settings).trustedDeviceEnabled,
    ttlMs: settings.trustedDeviceTTL,
  }
}

/** Guarded: a grant that was revoked meanwhile is not there to be used. */
async function noteUse(
  ctx: SurfaceContext,
  device: TrustedDevice,
  now: number,
): Promise<TrustedDevice | null> {
  if (now - (device.lastUsedAt ?? 0) < usedEveryMs) return device
  const { id, deviceEpoch } = device
  return ctx.collections.trustedDevices.update(id, { deviceEpoch }, { lastUsedAt: now })
}

async function trim(ctx: SurfaceContext, userId: string): Promise<void> {
  let kept = 0
  for await (const { id } of newestFirst(ctx.collections.trustedDevices, { userId })) {
    kept += 1
    if (kept > mostPerUser) await ctx.collections.trustedDevices.take(id)
  }
}

/** Throws `mfa_method_disabled` where the surface trusts no devices. */
export async function requireDeviceTrustAllowed(ctx: SurfaceContext): Promise<void> {
  if (!(await policy(ctx)).allowed) throw new AuthError('mfa_method_disabled')
}

/**
 * The grant of a token, if this user's second factor may be skipped by it; null for no token, any
 * other text, and where the surface trusts no devices. Notes the use, once an hour at most.
 */
export async function recogniseDevice(
  ctx: SurfaceContext,
  user: User,
  token: string | null | undefined,
): Promise<TrustedDevice | null> {
  const parsed = parse(token ?? '')
  if (parsed === null) return null
  const { allowed, ttlMs } = await policy(ctx)
  if (!allowed) return null
  const device = await ctx.collections.trustedDevices.get(parsed.id)
  const isGenuine = device !== null && equalConstantTime(device.secretHash, sha256(parsed.secret))
  const now = ctx.clock.now()
  if (!isGenuine || !isTrusted(device, { user, now, ttlMs })) return null
  return noteUse(ctx, device, now)
}

/** An id for a grant to come, so that a session can name it. */
export function nextDeviceId(ctx: SurfaceContext): string {
  return uuidv7(ctx.clock.now(), ctx.random)
}

/** Trusts a device; where there are more than twenty, it forgets the oldest. Throws `email_not_verified`. */
export async function issueTrustedDevice(
  ctx: SurfaceContext,
  user: User,
  id: string,
  name: string,
): Promise<DeviceGrant> {
  requireProvedMailbox(user)
  const { ttlMs } = await policy(ctx)
  const secret = randomToken(ctx.random)
  const now = ctx.clock.now()
  const expiresAt = now + ttlMs
  const stored = await ctx.collections.trustedDevices.insert({
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
  await trim(ctx, user.id)
  const expiresIn = Math.floor(ttlMs / 1000)
  return { deviceId: id, deviceToken: `${id}.${secret}`, name, expiresAt, expiresIn }
}

/** Tells of a device that is trusted from now on: the event, and beside the request its owner. */
export function announceTrustedDevice(
  ctx: SurfaceContext,
  { user, sessionId }: { readonly user: User; readonly sessionId: string },
  deviceId: string,
  source: RequestSource,
): void {
  ctx.emit('device.trusted', source, { userId: user.id, sessionId, deviceId })
  const at = ctx.clock.now()
  ctx.background.run('telling the owner of a trusted device', async () => {
    const { notifySecurityChanges } = await ctx.settings()
    const { ip, userAgent } = source
    if (notifySecurityChanges)
      void mailOwner(ctx, user, { template: 'deviceTrusted', data: { at, ip, userAgent } })
  })
}

/** What the user trusts now, newest first. */
async function liveDevicesOf(ctx: SurfaceContext, user: User): Promise<readonly TrustedDevice[]> {
  const { ttlMs } = await policy(ctx)
  const found = await ctx.collections.trustedDevices.find(
    { userId: user.id },
    { limit: 5 * mostPerUser, newestFirst: true },
  )
  const live = found.filter((device) => isTrusted(device, { user, now: ctx.clock.now(), ttlMs }))
  return live.map((device) => ({ ...device, expiresAt: trustedUntil(device, ttlMs) }))
}

/** Forgets one; false when the user has no such grant. */
async function revokeDevice(ctx: SurfaceContext, user: User, id: string): Promise<boolean> {
  return isUuid(id) && (await ctx.collections.trustedDevices.take(id, { userId: user.id })) !== null
}

/** The id a token names, for a caller who asks whether it is a certain one; null for other text. */
function deviceIdOf(token: string | null): string | null {
  return parse(token ?? '')?.id ?? null
}

/** Anything else was never handed out, and no store is asked for it. */
function parse(token: string): { readonly id: string; readonly secret: string } | null {
  const [id = '', secret = '', ...rest] = token.split('.')
  return isUuid(id) && /^[\w-]{43}$/.test(secret) && rest.length === 0 ? { id, secret } : null
}

// Lists, adds and removes the trusted devices of a signed-in user.

/** A trusted device, as its owner sees it. */
export interface ListedDevice
  extends Pick<TrustedDevice, 'id' | 'name' | 'createdAt' | 'lastUsedAt' | 'expiresAt'> {
  /** The one that asks, by its cookie or by the login of its session. */
  readonly current: boolean
}

/**
 * Throws `mfa_method_disabled` and `email_not_verified`, and what `sessionRefusal` gives when the session that asks
 * was ended meanwhile: nothing is trusted then. The caller has shown a second factor.
 */
export async function trustThisDevice(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
  name: string,
  source: RequestSource,
): Promise<DeviceGrant> {
  await requireDeviceTrustAllowed(ctx)
  requireProvedMailbox(user)
  const deviceId = nextDeviceId(ctx)
  // First: a session that names no device is worse off than one that names a device never made.
  await ctx.collections.sessions.update(sessionId, { active: true }, { deviceId })
  const grant = await issueTrustedDevice(ctx, user, deviceId, name)
  // Asked last: the owner may have ended this session meanwhile, and a thief must not keep a trusted device.
  const refusal = await sessionRefusal(ctx, user, sessionId)
  if (refusal !== null) {
    await revokeDevice(ctx, user, deviceId)
    throw refusal
  }
  announceTrustedDevice(ctx, { user, sessionId }, deviceId, source)
  return grant
}

export async function listTrustedDevices(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
  deviceCookie: string | null,
): Promise<readonly ListedDevice[]> {
  const [trusted, session] = await Promise.all([
    liveDevicesOf(ctx, user),
    ctx.collections.sessions.get(sessionId),
  ])
  const shown = deviceIdOf(deviceCookie)
  const own = trusted.some(({ id }) => id === shown) ? shown : session?.deviceId
  return trusted.map(({ id, name, createdAt, lastUsedAt, expiresAt }) => ({
    id,
    name,
    createdAt,
    lastUsedAt,
    expiresAt,
    current: id === own,
  }))
}

/**
 * True when it was the browser's own, whose cookie is worthless now. Throws `device_not_found`,
 * also for a device of another user.
 */
export async function revokeTrustedDevices(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
  deviceId: string,
  deviceCookie: string | null,
  source: RequestSource,
): Promise<boolean> {
  if (!(await revokeDevice(ctx, user, deviceId))) throw new AuthError('device_not_found')
  ctx.emit('device.revoked', source, { userId: user.id, sessionId, deviceId })
  return deviceIdOf(deviceCookie) === deviceId
}
