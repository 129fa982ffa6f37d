import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/** The newest second-factor proof of a session, whose id it has. Never renewed by a refresh. */
export interface StepUpProof extends Doc {
  readonly userId: string
  readonly method: 'totp' | 'backupCode' | 'webauthn'
  /** The user's `deviceEpoch` then: any other value voids the proof. -1 in a void proof, see `voidProof`. */
  readonly deviceEpoch: number
  /** Epoch milliseconds. */
  readonly provedAt: number
  readonly expiresAt: number
}

export const stepUpProofsSpec: SurfaceSpec<StepUpProof> = {
  fields: {
    userId: { kind: 'text' },
    method: { kind: 'text' },
    deviceEpoch: { kind: 'integer' },
    provedAt: { kind: 'time' },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'sliding',
}
