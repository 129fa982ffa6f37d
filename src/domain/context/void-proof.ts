import { longestProofAge } from '../../engine/duration.js'
import type { StepUpProof } from '../../model/factors.js'

/** The longest age that may be asked for, and the minute by which clocks may differ. Then no proof or login is recent. */
export const proofLifeMs = longestProofAge + 60 * 1000

/**
 * Stands in the place of a session's proof where the session turned up in an unusual place: no epoch is ever below zero, so
 * it is no proof of any. It also says that the login of the session is no recent one any more.
 */
export function voidProof(sessionId: string, userId: string, now: number): StepUpProof {
  const proof = { id: sessionId, userId, method: 'totp', deviceEpoch: -1, provedAt: 0 } as const
  return { ...proof, expiresAt: now + proofLifeMs }
}

export function isVoidProof(proof: StepUpProof | null): boolean {
  return proof !== null && proof.deviceEpoch < 0
}
