import type { User } from '../../model/user.js'
import type { AccountField, AccountStanding } from '../../ports/events.js'
import type { Act } from '../context/actor.js'
import { reasonOf } from '../context/reason-of.js'
import type { SurfaceContext } from '../context/surface-context.js'

/** Emits what is done to accounts, mostly by the host's code, also when it fails. */
export interface AccountEvents {
  created(act: Act, targetId: string): void
  createFailed(act: Act, error: unknown): void
  updated(act: Act, fields: readonly AccountField[], before: User, after: User): void
  /** Without an error: there is no such account. */
  updateFailed(act: Act, targetId: string, error?: unknown): void
  deleted(act: Act, targetId: string): void
  /** Without an error: there is no such account. */
  deleteFailed(act: Act, targetId: string, error?: unknown): void
}

export function createAccountEvents({ emit }: Pick<SurfaceContext, 'emit'>): AccountEvents {
  return {
    created({ actorId, source }, targetId) {
      emit('account.created', source, { actorId, targetId })
    },
    createFailed({ actorId, source }, error) {
      emit('account.createFailed', source, { actorId, reason: reasonOf(error) })
    },
    updated({ actorId, source }, fields, before, after) {
      emit('account.updated', source, {
        actorId,
        targetId: after.id,
        fields,
        before: standingOf(before, fields),
        after: standingOf(after, fields),
      })
    },
    updateFailed({ actorId, source }, targetId, error) {
      const reason = error === undefined ? 'not_found' : reasonOf(error)
      emit('account.updateFailed', source, { actorId, targetId, reason })
    },
    deleted({ actorId, source }, targetId) {
      emit('account.deleted', source, { actorId, targetId })
    },
    deleteFailed({ actorId, source }, targetId, error) {
      const reason = error === undefined ? 'not_found' : reasonOf(error)
      emit('account.deleteFailed', source, { actorId, targetId, reason })
    },
  }
}

/** A name decides nothing, and records outlive the account: they say only that it changed. */
function standingOf(user: User, fields: readonly AccountField[]): AccountStanding {
  const { enabled, systemRole, memberships } = user
  return {
    ...(fields.includes('enabled') ? { enabled } : {}),
    ...(fields.includes('systemRole') ? { systemRole } : {}),
    ...(fields.includes('memberships') ? { memberships } : {}),
  }
}
