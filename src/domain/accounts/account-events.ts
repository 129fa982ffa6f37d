import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { AccountField, AccountStanding } from '../../ports/account-event.js'
import type { Act } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'

/** Tells of what is done to accounts, mostly by the host's code, also when it fails. */
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

export function createAccountEvents(
  deps: Pick<SurfaceContext, 'surface' | 'clock' | 'emit'>,
): AccountEvents {
  const by = ({ actorId, source }: Act) => ({
    surface: deps.surface,
    at: deps.clock.now(),
    ...source,
    actorId,
  })
  return {
    created(act, targetId) {
      deps.emit({ type: 'account.created', ...by(act), targetId })
    },
    createFailed(act, error) {
      deps.emit({ type: 'account.createFailed', ...by(act), reason: reasonOf(error) })
    },
    updated(act, fields, before, after) {
      deps.emit({
        type: 'account.updated',
        ...by(act),
        targetId: after.id,
        fields,
        before: standingOf(before, fields),
        after: standingOf(after, fields),
      })
    },
    updateFailed(act, targetId, error) {
      const reason = error === undefined ? 'not_found' : reasonOf(error)
      deps.emit({ type: 'account.updateFailed', ...by(act), targetId, reason })
    },
    deleted(act, targetId) {
      deps.emit({ type: 'account.deleted', ...by(act), targetId })
    },
    deleteFailed(act, targetId, error) {
      const reason = error === undefined ? 'not_found' : reasonOf(error)
      deps.emit({ type: 'account.deleteFailed', ...by(act), targetId, reason })
    },
  }
}

/** A name decides nothing, and records outlive the account: of it only that it changed. */
function standingOf(user: User, fields: readonly AccountField[]): AccountStanding {
  const { enabled, systemRole, memberships } = user
  return {
    ...(fields.includes('enabled') ? { enabled } : {}),
    ...(fields.includes('systemRole') ? { systemRole } : {}),
    ...(fields.includes('memberships') ? { memberships } : {}),
  }
}

function reasonOf(error: unknown): string {
  return error instanceof AuthError ? error.code : 'internal_error'
}
