import { matchTotp, totpSecret } from '../../crypto/totp.js'
import { oncePerWindow } from '../../engine/limits.js'
import { AuthError } from '../../errors/index.js'
import type { EnrollmentNotice, TotpFactor } from '../../model/factors.js'
import type { User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { sealTotp, totpPlace } from './seal-totp.js'

export interface TotpFactors {
  /**
   * Starts over with a new secret, which counts for nothing until it is confirmed. Backup codes of a
   * factor that is no more are void. Throws `factor_already_enrolled` when one is.
   */
  begin(user: User, boundTo: string): Promise<string>
  /** The secret that waits for its first code; null without one. */
  pending(userId: string): Promise<PendingTotp | null>
  /** The right code of a secret that waits; null for any other code. */
  match(factor: TotpFactor, code: string): Promise<MatchedCode | null>
  /** Makes the secret a factor by its first code; false when another request came between. */
  confirm(matched: MatchedCode, notice: EnrollmentNotice): Promise<boolean>
  /** Accepts a code of the confirmed secret, each time step once. False for any other code. */
  spend(userId: string, code: string): Promise<boolean>
}

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

type Deps = Pick<
  SurfaceContext,
  'surface' | 'collections' | 'clock' | 'random' | 'settings' | 'secretBox' | 'logger'
>

/**
 * How long a secret may wait for its first code. The person re-authenticated when they
 * began, and a session stolen long after must not make a factor of it (ASVS 7.5.1).
 */
const pendingMs = 10 * 60 * 1000

/** Between reading a secret and accepting its code, it may be encrypted again. */
const tries = 4

/** Each login by an app of a lost key comes to it: the log says so once a minute. */
const saidEveryMs = 60_000

export function createTotpFactors(deps: Deps): TotpFactors {
  const { surface, clock, logger, secretBox } = deps
  const { totpFactors, backupCodes } = deps.collections
  const isFirst = oncePerWindow()

  function secretOf({ sealedSecret, userId, keyId }: TotpFactor): string {
    const secret = secretBox.open(sealedSecret, totpPlace(surface, userId))
    if (secret !== null) return secret
    // Its key is gone: an operator's mistake, not a wrong code.
    if (isFirst(keyId, saidEveryMs, clock.now())) {
      logger.error(
        `the secret of an authenticator app cannot be decrypted: no key of configKeys with the id "${keyId}" opens it`,
        { surface },
      )
    }
    throw new AuthError('service_unavailable')
  }

  /**
   * RFC 6238 §5.2: the guard lets a step, and every step before it, through no second time. What is
   * under an earlier key is encrypted again with it, since nothing else visits every factor.
   */
  async function accept(
    { factor, step, secret }: MatchedCode,
    notice: Partial<EnrollmentNotice> = {},
  ): Promise<boolean> {
    const { id, userId, sealedSecret, confirmed } = factor
    const guard = { confirmed, sealedSecret, lastStep: { lte: step - 1 } }
    const accepted = await totpFactors.update(id, guard, {
      confirmed: true,
      lastStep: step,
      // The use of a factor cancels its removal, which then has to start over.
      removingBy: null,
      ...notice,
      ...(secretBox.isCurrent(sealedSecret) ? {} : sealTotp(deps, userId, secret)),
    })
    return accepted !== null
  }

  async function match(factor: TotpFactor, code: string): Promise<MatchedCode | null> {
    const secret = secretOf(factor)
    const { totpSkewSteps } = await deps.settings()
    const moment = { now: clock.now(), skewSteps: totpSkewSteps, lastStep: factor.lastStep }
    const step = await matchTotp(secret, code, moment)
    return step === null ? null : { factor, step, secret }
  }

  async function replacePending(fresh: TotpFactor): Promise<boolean> {
    if (await totpFactors.insert(fresh)) return true
    const { id, ...fields } = fresh
    const replaced = await totpFactors.update(id, { confirmed: false }, fields)
    return replaced !== null
  }

  return {
    async begin({ id: userId, credentialEpoch, deviceEpoch }, boundTo) {
      const secret = await totpSecret(deps.random.bytes(20))
      const older = await backupCodes.get(userId)
      const begun = await replacePending({
        id: userId,
        expiresAt: null,
        userId,
        ...sealTotp(deps, userId, secret),
        confirmed: false,
        lastStep: 0,
        removingBy: null,
        enrollmentId: null,
        createdAt: clock.now(),
        boundTo,
        credentialEpoch,
        deviceEpoch,
      })
      if (!begun) throw new AuthError('factor_already_enrolled')
      // Without a passkey, older codes are those of a factor that is gone. If this factor is confirmed before it has
      // codes, it must not revive them.
      const { passkeys } = await enrolledFactors(deps.collections, userId)
      if (older !== null && passkeys === 0) await backupCodes.take(userId, { setId: older.setId })
      return secret
    },

    async pending(userId) {
      const factor = await totpFactors.get(userId)
      if (factor === null || factor.confirmed) return null
      return { factor, expiresAt: factor.createdAt + pendingMs }
    },

    match,
    confirm: accept,

    async spend(userId, code) {
      let seen: string | null = null
      return retryOnConflict(tries, async () => {
        const factor = await totpFactors.get(userId)
        // Nothing but another encryption, or another enrolment, changes the text.
        if (!factor?.confirmed || factor.sealedSecret === seen) return false
        const matched = await match(factor, code)
        if (matched === null) return false
        seen = factor.sealedSecret
        return (await accept(matched)) || conflict
      })
    },
  }
}
