import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/** A user's earlier password hashes, newest first; the id is the user id. Apart from the user
 * record because that one is read on every guarded request. */
export interface PasswordHistory extends Doc {
  readonly hashes: readonly string[]
  readonly revision: number
}

export const passwordHistoriesSpec: SurfaceSpec<PasswordHistory> = {
  fields: { hashes: { kind: 'json' }, revision: { kind: 'integer' } },
  indexes: [],
  expires: 'never',
}
