import type { SecretPlace } from '../../crypto/secret-box.js'
import { matchTotp, totpSecret } from '../../crypto/totp.js'
import { plainCode } from '../../engine/factors.js'
import { AuthError } from '../../errors/index.js'
import type { EnrollmentNotice, TotpFactor } from '../../model/factors.js'
import type { User } from '../../model/user.js'
import type { Surface } from '../../ports/surface.js'
import { pagesOf } from '../../stores/pages.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { joinReencryptions, type Reencryption } from '../configuration/config-views.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import type { SurfaceContext } from '../surface/surface-context.js'

export interface PendingTotp {
  readonly factor: TotpFactor
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** A code that is right, and not accepted yet. */
export interface MatchedCode {
  readonly factor: TotpFactor
  readonly step: number
  readonly secret: string
}

/**
 * How long a secret may wait for its first code. The person re-authenticated when they
 * began, and a session stolen long after must not make a factor of it (ASVS 7.5.1).
 */
const pendingMs = 10 * 60 * 1000

/** Between reading a secret and accepting its code, it may be encrypted again. */
const tries = 4

/** Each login by an app of a lost key comes to it: the log says so once a minute. */
const saidEveryMs = 60_000

function secretOf(ctx: SurfaceContext, { sealedSecret, userId, keyId }: TotpFactor): string {
  const secret = ctx.secretBox.open(sealedSecret, totpPlace(ctx.surface, userId))
  if (secret !== null) return secret
  // Its key is gone: an operator's mistake, not a wrong code.
  if (ctx.memory.isFirstBrokenSecret(keyId, saidEveryMs, ctx.clock.now())) {
    ctx.logger.error(
      `the secret of an authenticator app cannot be decrypted: no key of configKeys with the id "${keyId}" opens it`,
      { surface: ctx.surface },
    )
  }
  throw new AuthError('service_unavailable')
}

/** Makes the secret a factor by its first code; false when another request came between. */
/**
 * RFC 6238 §5.2: the guard lets a step, and every step before it, through no second time. What is
 * under an earlier key is encrypted again with it, since nothing else visits every factor.
 */
export async function confirmTotp(
  ctx: SurfaceContext,
  { factor, step, secret }: MatchedCode,
  notice: Partial<EnrollmentNotice> = {},
): Promise<boolean> {
  const { id, userId, sealedSecret, confirmed } = factor
  const guard = { confirmed, sealedSecret, lastStep: { lte: step - 1 } }
  const accepted = await ctx.collections.totpFactors.update(id, guard, {
    confirmed: true,
    lastStep: step,
    // The use of a factor cancels its removal, which then has to start over.
    removingBy: null,
    ...notice,
    ...(ctx.secretBox.isCurrent(sealedSecret) ? {} : sealTotp(ctx, userId, secret)),
  })
  return accepted !== null
}

/** The right code of a secret that waits; null for any other code. */
export async function matchTotpOf(
  ctx: SurfaceContext,
  factor: TotpFactor,
  code: string,
): Promise<MatchedCode | null> {
  const secret = secretOf(ctx, factor)
  const { totpSkewSteps } = await ctx.settings()
  const moment = { now: ctx.clock.now(), skewSteps: totpSkewSteps, lastStep: factor.lastStep }
  const step = await matchTotp(secret, plainCode(code), moment)
  return step === null ? null : { factor, step, secret }
}

async function replacePending(ctx: SurfaceContext, fresh: TotpFactor): Promise<boolean> {
  if (await ctx.collections.totpFactors.insert(fresh)) return true
  const { id, ...fields } = fresh
  const replaced = await ctx.collections.totpFactors.update(id, { confirmed: false }, fields)
  return replaced !== null
}

/**
 * Starts over with a new secret, which counts for nothing until it is confirmed. Backup codes of a
 * factor that is no more are void. Throws `factor_already_enrolled` when one is.
 */
export async function beginTotp(
  ctx: SurfaceContext,
  { id: userId, credentialEpoch, deviceEpoch }: User,
  boundTo: string,
): Promise<string> {
  const secret = await totpSecret(ctx.random.bytes(20))
  const older = await ctx.collections.backupCodes.get(userId)
  const begun = await replacePending(ctx, {
    id: userId,
    expiresAt: null,
    userId,
    ...sealTotp(ctx, userId, secret),
    confirmed: false,
    lastStep: 0,
    removingBy: null,
    enrollmentId: null,
    createdAt: ctx.clock.now(),
    boundTo,
    credentialEpoch,
    deviceEpoch,
  })
  if (!begun) throw new AuthError('factor_already_enrolled')
  // Without a passkey, older codes are those of a factor that is gone. If this factor is confirmed before it has
  // codes, it must not revive them.
  const { passkeys } = await enrolledFactors(ctx.collections, userId)
  if (older !== null && passkeys === 0)
    await ctx.collections.backupCodes.take(userId, { setId: older.setId })
  return secret
}

/** The secret that waits for its first code; null without one. */
export async function pendingTotp(
  ctx: SurfaceContext,
  userId: string,
): Promise<PendingTotp | null> {
  const factor = await ctx.collections.totpFactors.get(userId)
  if (factor === null || factor.confirmed) return null
  return { factor, expiresAt: factor.createdAt + pendingMs }
}

/** Accepts a code of the confirmed secret, each time step once. False for any other code. */
export async function spendTotp(
  ctx: SurfaceContext,
  userId: string,
  code: string,
): Promise<boolean> {
  let seen: string | null = null
  return retryOnConflict(tries, async () => {
    const factor = await ctx.collections.totpFactors.get(userId)
    // Nothing but another encryption, or another enrolment, changes the text.
    if (!factor?.confirmed || factor.sealedSecret === seen) return false
    const matched = await matchTotpOf(ctx, factor, code)
    if (matched === null) return false
    seen = factor.sealedSecret
    return (await confirmTotp(ctx, matched)) || conflict
  })
}

/** Secrets read and written beside each other: others share the database meanwhile. */
const batch = 50

/**
 * Encrypts the secrets of authenticator apps under the first key that are under another one of the ring.
 * May be repeated and interrupted: what is left is found by the id of its key. A secret that still waits
 * for its first code stays as it is, since it is good for ten minutes only.
 */
export async function reencryptTotp(ctx: SurfaceContext): Promise<Reencryption> {
  const [, ...older] = ctx.secretBox.keyIds
  const all: Reencryption[] = []
  for (const keyId of older) all.push(await moveFrom(ctx, keyId))
  return joinReencryptions(all)
}

/** Whether this call did it; null where no key decrypts the secret. */
async function move(
  ctx: SurfaceContext,
  { id, userId, sealedSecret }: TotpFactor,
): Promise<boolean | null> {
  const secret = ctx.secretBox.open(sealedSecret, totpPlace(ctx.surface, userId))
  if (secret === null) return null
  const sealed = sealTotp(ctx, userId, secret)
  // A use of the app, a removal or another enrolment came between: none of them leaves the older text.
  return (
    (await ctx.collections.totpFactors.update(id, { confirmed: true, sealedSecret }, sealed)) !==
    null
  )
}

async function moveFrom(ctx: SurfaceContext, keyId: string): Promise<Reencryption> {
  let reencrypted = 0
  const damaged: Reencryption['damaged'][number][] = []
  for await (const page of pagesOf(ctx.collections.totpFactors, { keyId }, { limit: batch })) {
    const outcomes = await Promise.all(
      page
        .filter(({ confirmed }) => confirmed)
        .map(async (factor) => {
          const isMoved = await move(ctx, factor)
          if (isMoved === null) damaged.push(totpPlace(ctx.surface, factor.userId))
          return isMoved
        }),
    )
    reencrypted += outcomes.filter((isMoved) => isMoved === true).length
  }
  return { reencrypted, damaged }
}

/** Where the secret of a user's authenticator app is; encrypted for it, it decrypts nowhere else. */
export function totpPlace(surface: Surface, userId: string): SecretPlace {
  return { module: 'totp', environment: surface, key: userId }
}

/** A secret under the first key, and the id of that key. */
export function sealTotp(
  { surface, secretBox }: Pick<SurfaceContext, 'surface' | 'secretBox'>,
  userId: string,
  secret: string,
): Pick<TotpFactor, 'sealedSecret' | 'keyId'> {
  const sealedSecret = secretBox.seal(secret, totpPlace(surface, userId))
  return { sealedSecret, keyId: secretBox.keyIds[0] }
}
