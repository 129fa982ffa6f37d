import type { SecondFactorMethod } from '../engine/second-factor.js'
import { AuthError } from '../errors.js'
import { isHuman, type User } from '../model/user.js'
import { enrolledFactors } from './enrolled-factors.js'
import type { Principal } from './principal.js'
import type { SurfaceDeps } from './surface-deps.js'

/** Recent proofs of a second factor, each bound to the session that showed it (R-5-21). */
export interface StepUp {
  /** Notes a proof of now; an older one of the session is replaced, a newer one stays. */
  record(user: User, sessionId: string, method: SecondFactorMethod): Promise<number>
  /** Epoch milliseconds of the session's newest proof that still counts; null without one. */
  provedAt(user: User, sessionId: string): Promise<number | null>
  /**
   * Resolves only when the session showed a second factor less than `maxAgeMs` ago (T-42). Throws
   * `step_up_required` for anybody else: a service account, somebody without a factor, somebody who
   * only signed in, refreshed, typed a password or came from a trusted device.
   */
  require(principal: Principal, maxAgeMs: number): Promise<void>
}

type Deps = Pick<SurfaceDeps, 'collections' | 'clock'>

/** The longest age anything asks for (S-28), and what clocks may differ by. */
const lifeMs = 60 * 60 * 1000 + 60 * 1000

/** The sweep may take the older one away in between. */
const tries = 4

export function createStepUp(deps: Deps): StepUp {
  const { clock } = deps
  const { stepUpProofs, users } = deps.collections

  async function provedAt({ id, deviceEpoch }: User, sessionId: string): Promise<number | null> {
    const proof = await stepUpProofs.get(sessionId)
    const counts = proof?.userId === id && proof.deviceEpoch === deviceEpoch
    return counts ? proof.provedAt : null
  }

  return {
    provedAt,

    async record(user, sessionId, method) {
      const now = clock.now()
      const { id: userId, deviceEpoch } = user
      const fields = { userId, method, deviceEpoch, provedAt: now, expiresAt: now + lifeMs }
      for (let attempt = 0; attempt < tries; attempt += 1) {
        if (await stepUpProofs.insert({ id: sessionId, ...fields })) return now
        const moved = await stepUpProofs.update(sessionId, { provedAt: { lte: now } }, fields)
        if (moved !== null && moved !== 'taken') return now
        const newer = await stepUpProofs.get(sessionId)
        if (newer !== null) return newer.provedAt
      }
      throw new AuthError('service_unavailable')
    },

    async require({ kind, userId, sessionId }, maxAgeMs) {
      const refusal = { maxAgeSeconds: Math.floor(maxAgeMs / 1000) }
      if (kind !== 'human' || sessionId === null) throw new AuthError('step_up_required', refusal)
      const user = await users.get(userId)
      if (user === null || !user.enabled || !isHuman(user)) {
        throw new AuthError('step_up_required', refusal)
      }
      const proved = await provedAt(user, sessionId)
      const age = clock.now() - (proved ?? 0)
      // A proof of the future is a clock's mistake and proves nothing for longer than it should.
      if (proved !== null && age >= 0 && age < maxAgeMs) return
      const { totp } = await enrolledFactors(deps.collections, userId)
      if (totp) throw new AuthError('step_up_required', refusal)
      throw new AuthError('step_up_required', { ...refusal, detail: 'mfa_enrollment_required' })
    },
  }
}
