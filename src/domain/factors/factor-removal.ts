import { randomToken } from '../../crypto/secrets.js'
import { allowedFactors } from '../../engine/second-factor.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { passkeysOfUser } from '../context/enrolled-factors.js'
import type { SurfaceContext } from '../context/surface-context.js'

/**
 * Takes factors away. Where the policy is `required`, one that may be used always stays, whatever
 * races: throws `last_factor_required`. Of two removals at once that would leave none, one is refused,
 * or both. False when there is no such factor.
 */
export interface FactorRemoval {
  removeTotp(userId: string): Promise<boolean>
  removePasskey(userId: string, credentialId: string): Promise<boolean>
}

/** One factor, by guarded writes to its own document. */
interface Removable {
  /** Puts a mark in place of whichever is there; false when there is no such factor. */
  mark(nonce: string): Promise<boolean>
  unmark(nonce: string): Promise<unknown>
  /** With a nonce: only while it is the mark. */
  take(nonce: string | null): Promise<boolean>
  /** True if another factor may be used and is not being removed. */
  hasOther(): Promise<boolean>
}

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'random' | 'settings'>

/** A use of the factor, or another removal of it, moves the mark. */
const tries = 8

export function createFactorRemoval(deps: Deps): FactorRemoval {
  const { collections, random } = deps
  const { totpFactors, passkeys } = collections

  /**
   * Mark, look, take: a removal that looks after both are marked sees the other's mark, so two removals
   * never take the last two. A mark that a crash left behind keeps the factor from being counted,
   * and nothing else: it can be used, which clears the mark, and it can be removed.
   */
  function removeUnlessLast(factor: Removable): Promise<boolean> {
    return retryOnConflict(tries, async () => {
      const nonce = randomToken(random, 16)
      if (!(await factor.mark(nonce))) return false
      if (!(await factor.hasOther())) {
        await factor.unmark(nonce)
        throw new AuthError('last_factor_required')
      }
      return (await factor.take(nonce)) || conflict
    })
  }

  async function remove(factor: Removable): Promise<boolean> {
    const { mfaPolicy } = settingsFor(deps.surface, await deps.settings())
    return mfaPolicy === 'required' ? removeUnlessLast(factor) : factor.take(null)
  }

  async function hasTotp(userId: string): Promise<boolean> {
    if (!allowedFactors(await deps.settings()).totp) return false
    const factor = await totpFactors.get(userId)
    return factor?.confirmed === true && factor.removingBy === null
  }

  async function hasPasskeyBeside(userId: string, credentialId: string | null): Promise<boolean> {
    if (!allowedFactors(await deps.settings()).webauthn) return false
    const all = await passkeysOfUser(collections, userId)
    return all.some(({ id, removingBy }) => id !== credentialId && removingBy === null)
  }

  return {
    removeTotp: (userId) =>
      remove({
        async mark(nonce) {
          const marked = await totpFactors.update(
            userId,
            { confirmed: true },
            { removingBy: nonce },
          )
          return marked !== null
        },
        unmark: (nonce) => totpFactors.update(userId, { removingBy: nonce }, { removingBy: null }),
        async take(nonce) {
          const guard = { confirmed: true, ...(nonce === null ? {} : { removingBy: nonce }) }
          return (await totpFactors.take(userId, guard)) !== null
        },
        hasOther: () => hasPasskeyBeside(userId, null),
      }),

    removePasskey: (userId, credentialId) =>
      remove({
        async mark(nonce) {
          return (await passkeys.update(credentialId, { userId }, { removingBy: nonce })) !== null
        },
        unmark: (nonce) =>
          passkeys.update(credentialId, { removingBy: nonce }, { removingBy: null }),
        async take(nonce) {
          const guard = { userId, ...(nonce === null ? {} : { removingBy: nonce }) }
          return (await passkeys.take(credentialId, guard)) !== null
        },
        hasOther: async () =>
          (await hasTotp(userId)) || (await hasPasskeyBeside(userId, credentialId)),
      }),
  }
}
