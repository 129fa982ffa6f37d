import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/**
 * The started deletion of an account; the id is the user's. It is written before anything is removed
 * and outlives the user record: what an interruption left undone is found, and so are documents that a
 * parallel request wrote meanwhile; no account is ever made with the id again.
 */
export interface AccountDeletion extends Doc {
  /** The user who deleted it; null when the host's code named no actor. */
  readonly actorId: string | null
  readonly begunAt: number
  /**
   * That of the user when the deletion was noted. Credentials that changed since belong to another
   * decision: what only was noted is then given up. Null where it was not kept, and `onlyByRequest` where the request
   * alone may close the account.
   */
  readonly credentialEpoch: number | null
  /** When the user record was gone; null before. */
  readonly deletedAt: number | null
  /** When the process that sweeps has to look at it again; null once it did for the last time. */
  readonly expiresAt: number | null
}

/** No user's epoch: the session that asked for the deletion has to be open when the account is closed. */
export const onlyByRequest = -1

export const accountDeletionsSpec: SurfaceSpec<AccountDeletion> = {
  fields: {
    actorId: { kind: 'text', nullable: true },
    begunAt: { kind: 'time' },
    credentialEpoch: { kind: 'integer', nullable: true },
    deletedAt: { kind: 'time', nullable: true },
  },
  indexes: [],
  expires: 'due',
}
