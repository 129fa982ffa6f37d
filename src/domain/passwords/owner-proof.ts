import { ownerProvedWrite } from '../../engine/owner-proof.js'
import type { User } from '../../model/user.js'
import type { OwnerProofWay } from '../../ports/account-event.js'
import type { RequestSource } from '../../ports/request-source.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { keepEnrolledFactor } from '../context/keep-enrolled-factor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { SignInIntent } from '../intents/oauth-flows.js'
import type { SpentIntent } from '../intents/spent-intent.js'
import type { MailService } from '../mail/mail-service.js'
import { networkLine } from './hash-lines.js'
import type { PasswordHashes } from './password-hashes.js'
import type { PasswordRules } from './password-rules.js'

/** How the mailbox was proved, and what becomes of the password. */
export interface Proof {
  /** The link that was mailed to the address, or the flow to a provider that is authoritative for it. */
  readonly by: SpentIntent<'verifyEmail' | 'resetPassword'> | SignInIntent
  /** Null clears the password that is there. */
  readonly newPassword: string | null
  /** As the provider says it; left out where only the mailbox is known. */
  readonly name?: string
  readonly source: RequestSource
}

/**
 * Gives an account to the owner of its mailbox, which is not proved yet. A stranger may have made the account:
 * nothing of theirs opens it any more, and no mail shows their text.
 */
export interface OwnerProof {
  /**
   * One guarded write, after which no earlier session can be refreshed; the caller ends them
   * afterwards, and does so again where an earlier attempt was cut short. Checks the password policy
   * first. Null when the account was proved or its credentials were changed meanwhile: then nothing
   * was written.
   */
  prove(user: User, proof: Proof): Promise<User | null>
}

interface Deps
  extends Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'settings' | 'emit'> {
  readonly passwords: PasswordHashes
  readonly passwordRules: PasswordRules
  readonly mail: MailService
}

function wayOf({ kind }: Proof['by']): OwnerProofWay {
  if (kind === 'verifyEmail') return 'link'
  return kind === 'resetPassword' ? 'reset' : 'provider'
}

/** Sessions ended beside us, or a factor removed, move the record. */
const attempts = 5

export function createOwnerProof(deps: Deps): OwnerProof {
  const { clock, passwordRules } = deps
  const { users } = deps.collections

  async function hashOf(user: User, { newPassword, source }: Proof) {
    if (newPassword === null) return null
    const { id, email, name, passwordHash } = user
    const line = networkLine(deps.surface, source)
    const existing = { userId: id, passwordHash }
    await passwordRules.check(newPassword, { email, name, existing, line })
    return deps.passwords.hash(newPassword, line)
  }

  /** Whether the record is what the write makes of it: the salt is ours, or there is no password. */
  function isWritten(found: User | null, seen: User, passwordHash: string | null): found is User {
    return (
      found !== null &&
      found.emailVerifiedAt !== null &&
      found.passwordHash === passwordHash &&
      found.credentialEpoch === seen.credentialEpoch + 1
    )
  }

  async function write(
    user: User,
    passwordHash: string | null,
    { by: { id: lastIntentId }, name = '' }: Proof,
  ): Promise<User | null> {
    const given = { passwordHash, name, lastIntentId }
    const { guard, set } = ownerProvedWrite(user, given, clock.now())
    try {
      return await users.update(user.id, guard, set)
    } catch (error) {
      const found = await users.get(user.id)
      if (isWritten(found, user, passwordHash)) return found
      throw error
    }
  }

  function announce(before: User, after: User, { by, source }: Proof, mails: boolean): void {
    const at = clock.now()
    const userId = after.id
    deps.emit('email.verified', source, { at, userId })
    deps.emit('account.ownerProved', source, { at, userId, by: wayOf(by) })
    if (after.passwordHash === null) return
    deps.emit('password.changed', source, { at, userId, by: 'reset' })
    if (mails && before.passwordHash !== null) deps.mail.passwordChanged(after, at)
  }

  return {
    async prove(seen, proof) {
      // Before anything is written: what was proved must not be answered by a failure.
      const { notifySecurityChanges } = await deps.settings()
      const passwordHash = await hashOf(seen, proof)
      let user: User | null = seen
      const attempt = async () => {
        if (user === null || user.emailVerifiedAt !== null) return null
        if (user.credentialEpoch !== seen.credentialEpoch) return null
        const before: User = user
        if (before.passwordHash !== null) {
          await passwordRules.remember(before.id, before.passwordHash)
        }
        await keepEnrolledFactor(deps.collections, before)
        const found: User | null =
          (await write(before, passwordHash, proof)) ?? (await users.get(seen.id))
        // A guard that missed may have been met by the very write whose answer was lost.
        if (isWritten(found, seen, passwordHash)) {
          announce(before, found, proof, notifySecurityChanges)
          return found
        }
        user = found
        return conflict
      }
      return retryOnConflict<User | null>(attempts, attempt, () => null)
    },
  }
}
