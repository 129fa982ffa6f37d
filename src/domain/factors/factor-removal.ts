import { randomToken } from '../../crypto/secrets.js'
import { allowedFactors } from '../../engine/factors.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { passkeysOfUser } from '../context/enrolled-factors.js'
import { hasWayIn } from '../context/has-way-in.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { FactorChange, FactorChanges } from './factor-changes.js'

/**
 * Takes factors away, and tells of it. What was granted on a factor is void before the factor is gone:
 * an interruption leaves the factor without it, and the next removal completes. Where the policy is
 * `required`, one that may be used always stays, whatever races: throws `last_factor_required`. If two
 * removals at once would leave none, one is refused, or both. False when there is no such factor.
 * Throws what `sessionRefusal` gives where the session that asks ended meanwhile, and `step_up_required` where its proof
 * was voided.
 */
export interface FactorRemoval {
  removeTotp(user: User, change: FactorChange): Promise<boolean>
  /**
   * Where a passkey stands for both factors, one that is the user's last way to sign in stays as well:
   * throws `last_login_method`.
   */
  removePasskey(user: User, credentialId: string, change: FactorChange): Promise<boolean>
}

/** Why a factor has to stay. */
type Refusal = 'last_factor_required' | 'last_login_method'

/** One factor, by guarded writes to its own document. */
interface Removable {
  /** Puts a mark in place of any that is there; false when there is no such factor. */
  mark(nonce: string): Promise<boolean>
  unmark(nonce: string): Promise<unknown>
  /** Only while the nonce is the mark. */
  take(nonce: string): Promise<boolean>
  /** True if another factor may be used and is not being removed. */
  hasOther(): Promise<boolean>
  /** True if the user could not sign in any more without it. Null for one that opens no account. */
  readonly isLastWayIn: (() => Promise<boolean>) | null
}

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'random' | 'settings'>

/** A use of the factor, or another removal of it, moves the mark. */
const tries = 8

export function createFactorRemoval(
  deps: Deps,
  changes: Pick<FactorChanges, 'retire' | 'made'>,
): FactorRemoval {
  const { collections, random } = deps
  const { totpFactors, passkeys } = collections

  /**
   * Mark, look, retire, take. A removal that looks after both are marked sees the other's mark, so two
   * removals never take the last two. A use of the factor clears the mark, so what it grants after the
   * retirement is retired by another round before the factor is taken. A mark that a crash left behind
   * keeps the factor from being counted, and nothing else: it can be used, which clears the mark, and it
   * can be removed.
   */
  async function remove(user: User, factor: Removable, change: FactorChange): Promise<boolean> {
    let retired: Pick<User, 'id' | 'deviceEpoch'> = user
    const removed = await retryOnConflict(tries, async () => {
      const nonce = randomToken(random, 16)
      if (!(await factor.mark(nonce))) return false
      try {
        const refusal = await refusalOf(factor)
        if (refusal !== null) throw new AuthError(refusal)
        const raised = await changes.retire(retired, change)
        if (raised === null) throw new AuthError('session_revoked')
        retired = raised
      } catch (error) {
        // A mark that stays does no harm, and the caller has to hear of the refusal.
        await factor.unmark(nonce).catch(() => {})
        throw error
      }
      return (await factor.take(nonce)) || conflict
    })
    if (removed) changes.made(user, change)
    return removed
  }

  async function refusalOf(factor: Removable): Promise<Refusal | null> {
    const settings = await deps.settings()
    const isRequired = settingsFor(deps.surface, settings).mfaPolicy === 'required'
    if (isRequired && !(await factor.hasOther())) return 'last_factor_required'
    const isLastWayIn = settings.webauthnMode === 'passwordless' ? factor.isLastWayIn : null
    return (await isLastWayIn?.()) === true ? 'last_login_method' : null
  }

  async function hasApp(userId: string): Promise<boolean> {
    const factor = await totpFactors.get(userId)
    return factor?.confirmed === true && factor.removingBy === null
  }

  async function hasAllowedApp(userId: string): Promise<boolean> {
    return allowedFactors(await deps.settings()).totp && hasApp(userId)
  }

  /**
   * One that never verified the person may be refused at the next login. So it counts only in the place of one like it, or
   * where an app is asked for beside it, see `usableMethods`.
   */
  async function hasPasskeyBeside(userId: string, credentialId: string | null): Promise<boolean> {
    const { webauthn, userVerification } = allowedFactors(await deps.settings())
    if (!webauthn) return false
    const all = await passkeysOfUser(collections, userId)
    const others = all.filter(({ id, removingBy }) => id !== credentialId && removingBy === null)
    if (others.some(({ uvInitialized }) => uvInitialized || !userVerification)) return true
    if (credentialId === null || others.length === 0) return false
    const isLikeIt = all.some(({ id, uvInitialized }) => id === credentialId && !uvInitialized)
    return isLikeIt || hasApp(userId)
  }

  /** Only one that verifies the person opens an account by itself. */
  async function isLastPasskeyIn(userId: string, credentialId: string): Promise<boolean> {
    const all = await passkeysOfUser(collections, userId)
    const opening = all.filter(({ uvInitialized }) => uvInitialized)
    if (opening.every(({ id }) => id !== credentialId)) return false
    if (opening.some(({ id, removingBy }) => id !== credentialId && removingBy === null))
      return false
    const identities = await collections.oauthIdentities.find({ userId }, { limit: 100 })
    const staying = identities.filter(({ removingBy }) => removingBy === null)
    return !(await hasWayIn(deps, userId, staying))
  }

  const appOf = (userId: string): Removable => ({
    async mark(nonce) {
      const guard = { confirmed: true }
      return (await totpFactors.update(userId, guard, { removingBy: nonce })) !== null
    },
    unmark: (nonce) => totpFactors.update(userId, { removingBy: nonce }, { removingBy: null }),
    async take(nonce) {
      const guard = { confirmed: true, removingBy: nonce }
      return (await totpFactors.take(userId, guard)) !== null
    },
    hasOther: () => hasPasskeyBeside(userId, null),
    isLastWayIn: null,
  })

  const passkeyOf = (userId: string, credentialId: string): Removable => ({
    async mark(nonce) {
      return (await passkeys.update(credentialId, { userId }, { removingBy: nonce })) !== null
    },
    unmark: (nonce) => passkeys.update(credentialId, { removingBy: nonce }, { removingBy: null }),
    async take(nonce) {
      return (await passkeys.take(credentialId, { userId, removingBy: nonce })) !== null
    },
    hasOther: async () =>
      (await hasAllowedApp(userId)) || (await hasPasskeyBeside(userId, credentialId)),
    isLastWayIn: () => isLastPasskeyIn(userId, credentialId),
  })

  return {
    removeTotp: (user, change) => remove(user, appOf(user.id), change),

    removePasskey: (user, credentialId, change) =>
      remove(user, passkeyOf(user.id, credentialId), change),
  }
}
