import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/** A user's set of backup codes. It is one document, so that a new set replaces the old in one write. */
export interface BackupCodes extends Doc {
  readonly userId: string
  /** PHC strings, one for each code, in the order of the codes' first characters. */
  readonly hashes: readonly string[]
  /** Bit n is set once code n was used. */
  readonly usedMask: number
  /** A random mark of this set, so that a code checked against one set is never spent in another. */
  readonly setId: string
  readonly createdAt: number
}

export const backupCodesSpec: SurfaceSpec<BackupCodes> = {
  fields: {
    userId: { kind: 'text' },
    hashes: { kind: 'json' },
    usedMask: { kind: 'integer' },
    setId: { kind: 'text' },
    createdAt: { kind: 'time' },
  },
  indexes: [],
  expires: 'never',
}
