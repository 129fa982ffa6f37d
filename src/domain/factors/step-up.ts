import { proofAge as ageOfProof } from '../../engine/duration.js'
import { hasFactor, type SecondFactorMethod } from '../../engine/factors.js'
import { AuthError } from '../../errors/index.js'
import type { StepUpProof } from '../../model/factors.js'
import { isHuman, type User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import type { Principal, SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { proofLifeMs } from '../context/void-proof.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import { stepUpRequired } from './step-up-required.js'

/** Recent proofs of a second factor, each bound to the session that showed it. */
export interface StepUp {
  /** Notes a proof of now. It replaces an older one of the session, and one that lies too far in the future to count. */
  record(user: User, sessionId: string, method: SecondFactorMethod): Promise<number>
  /**
   * To be called before a factor is shown in a session, and with the user that the proof is then recorded with. Throws
   * `session_revoked` and `session_max_age_reached` where the session is over: an ending of all sessions reaches one after
   * the other, and a proof would count in those it has yet to reach. One that begins afterwards voids the proof.
   */
  requireSession(who: Pick<SignedIn, 'user' | 'sessionId'>): Promise<void>
  /** Epoch milliseconds of the session's newest proof that still counts; null without one. */
  provedAt(user: User, sessionId: string): Promise<number | null>
  /** Milliseconds since that proof, see `engine/duration`; null without one, and for one far in the future. */
  proofAge(user: User, sessionId: string): Promise<number | null>
  /**
   * Resolves only when the session showed a second factor less than `maxAgeMs` ago. Throws
   * `mfa_enrollment_required` for a person without a factor, and `step_up_required` for any other caller:
   * a service account, and a person who only signed in, refreshed, typed a password or came from a
   * trusted device.
   */
  require(principal: Principal, maxAgeMs: number): Promise<void>
}

interface Deps extends Pick<SurfaceContext, 'collections' | 'clock'> {
  readonly judge: Pick<IntentJudge, 'sessionRefusal'>
}

/** Another proof of the session, or the sweep, may come between reading and writing. */
const tries = 16

export function createStepUp(deps: Deps): StepUp {
  const { clock } = deps
  const { stepUpProofs, users } = deps.collections

  async function provedAt({ id, deviceEpoch }: User, sessionId: string): Promise<number | null> {
    const proof = await stepUpProofs.get(sessionId)
    const counts = proof?.userId === id && proof.deviceEpoch === deviceEpoch
    return counts ? proof.provedAt : null
  }

  async function proofAge(user: User, sessionId: string): Promise<number | null> {
    const proved = await provedAt(user, sessionId)
    return proved === null ? null : ageOfProof(proved, clock.now())
  }

  /** The newer of two proofs of a session stays; one from before a change of factors is never newer. */
  function isNewer(one: StepUpProof, other: StepUpProof): boolean {
    if (one.deviceEpoch !== other.deviceEpoch) return one.deviceEpoch > other.deviceEpoch
    // One of a clock that was wrong would keep the session from proving anything until that time comes.
    return one.provedAt > other.provedAt && ageOfProof(one.provedAt, clock.now()) !== null
  }

  /** When the proof that stays was shown. */
  function store(proof: StepUpProof): Promise<number> {
    const { id, ...fields } = proof
    return retryOnConflict(tries, async () => {
      const older = await stepUpProofs.get(id)
      if (older === null) return (await stepUpProofs.insert(proof)) ? proof.provedAt : conflict
      if (isNewer(older, proof)) return older.provedAt
      const guard = { provedAt: older.provedAt, deviceEpoch: older.deviceEpoch }
      const moved = await stepUpProofs.update(id, guard, fields)
      return moved === null ? conflict : proof.provedAt
    })
  }

  return {
    provedAt,
    proofAge,

    async record(user, sessionId, method) {
      const now = clock.now()
      const { id: userId, deviceEpoch } = user
      const expiresAt = now + proofLifeMs
      return store({ id: sessionId, userId, method, deviceEpoch, provedAt: now, expiresAt })
    },

    async requireSession({ user, sessionId }) {
      const refusal = await deps.judge.sessionRefusal(user, sessionId)
      if (refusal !== null) throw refusal
    },

    async require({ kind, userId, sessionId }, maxAgeMs) {
      if (kind !== '' || sessionId === null) throw stepUpRequired(maxAgeMs)
      const user = await users.get(userId)
      if (user === null || !user.enabled || !isHuman(user)) throw stepUpRequired(maxAgeMs)
      const age = await proofAge(user, sessionId)
      if (age !== null && age < maxAgeMs) return
      if (hasFactor(await enrolledFactors(deps.collections, userId))) throw stepUpRequired(maxAgeMs)
      const maxAgeSeconds = Math.floor(maxAgeMs / 1000)
      throw new AuthError('mfa_enrollment_required', { maxAgeSeconds })
    },
  }
}
