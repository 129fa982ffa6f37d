import { type LinkProof, linkProof } from '../../engine/accounts.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import { keepEnrolledFactor } from '../context/keep-enrolled-factor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { MailedIntents } from '../intents/mailed-intents.js'
import type { OpenedIntent, SpentIntent } from '../intents/spent-intent.js'
import type { OwnerFacts, OwnerProof } from '../passwords/owner-proof.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import type { Sessions } from '../sessions/sessions.js'

/** What a caller sends beside the link. */
export interface ConfirmingOwner {
  readonly newPassword?: string | undefined
  readonly name?: string | undefined
  readonly acceptedTermsVersion?: string | undefined
}

/** Confirms the address of an account that exists, with a link mailed to it. */
export interface MailboxConfirmation {
  /**
   * The account comes to the owner of the mailbox, see `OwnerProof`. An account with a password needs
   * `newPassword`: a stranger may have made the account. If it is the password that the account has,
   * that stays, and so do its sessions. Throws `password_choice_required`, which spends nothing,
   * `invalid_token`, `password_policy` and `rate_limited`.
   */
  confirm(
    opened: OpenedIntent<'verifyEmail'>,
    by: ConfirmingOwner,
    source: RequestSource,
  ): Promise<void>
}

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'settings' | 'emit'>

interface Services {
  readonly sessions: Sessions
  readonly mailedIntents: MailedIntents
  readonly ownerProof: OwnerProof
  readonly passwordCheck: PasswordCheck
}

/** A link, and what came with it. */
interface Shown {
  readonly intent: SpentIntent<'verifyEmail'>
  readonly newPassword: string | undefined
  readonly owner: OwnerFacts
  readonly source: RequestSource
}

export function createMailboxConfirmation(
  deps: Deps,
  { sessions, mailedIntents, ownerProof, passwordCheck }: Services,
): MailboxConfirmation {
  const { clock } = deps
  const { users } = deps.collections

  /** The password stays, and with it all that was made with it. */
  async function keep({ intent, source }: Shown): Promise<void> {
    const { id, email, credentialEpoch, deviceEpoch } = intent.user
    await keepEnrolledFactor(deps.collections, intent.user)
    const at = clock.now()
    // The device epoch moves with every password: the one that was compared is the one that stays.
    const epochs = { credentialEpoch, deviceEpoch }
    const guard = { emailVerifiedAt: null, ...epochs, email, enabled: true, kind: '' }
    const set = { emailVerifiedAt: at, lastIntentId: intent.id, updatedAt: at }
    if ((await users.update(id, guard, set)) === null) {
      // The write of another request with this link, or ours, carried out twice by a driver.
      const found = await users.get(id)
      const isProved = found !== null && found.emailVerifiedAt !== null
      if (isProved && found.credentialEpoch === credentialEpoch) return
      throw new AuthError('invalid_token')
    }
    // The account stays with the person that made it: `account.ownerProved` would have hosts drop their data.
    deps.emit('email.verified', source, { at, userId: id })
  }

  async function prove(shown: Shown, newPassword: string | null): Promise<void> {
    const { intent, owner, source } = shown
    const { user } = intent
    const proved = await ownerProof.prove(user, { by: intent, newPassword, owner, source })
    if (proved === null) throw new AuthError('invalid_token')
    await sessions.endAll(user.id, 'password_change', source)
  }

  async function apply(how: LinkProof, shown: Shown): Promise<void> {
    const { intent, newPassword } = shown
    if (how === 'ask' || (how === 'compare' && newPassword === undefined)) {
      throw new AuthError('password_choice_required')
    }
    if (how === 'compare' && newPassword !== undefined) {
      const isPresent = await passwordCheck.ofLink(intent.payload, intent.user, newPassword)
      return isPresent ? keep(shown) : prove(shown, newPassword)
    }
    return prove(shown, how === 'choose' ? (newPassword ?? null) : null)
  }

  /**
   * An earlier request proved the mailbox and the rest was not done: the same request again completes
   * it. Another password is not taken in the place of the one that was chosen.
   */
  async function goOn({ intent, newPassword, source }: Shown): Promise<void> {
    const { user, payload } = intent
    // The password stayed, or there was nothing to retire.
    if (user.credentialEpoch === payload.credentialEpoch) return
    if (user.passwordHash !== null) {
      const isOurs = newPassword !== undefined && passwordCheck.ofLink(payload, user, newPassword)
      if (!(await isOurs)) throw new AuthError('invalid_token')
    }
    await sessions.endAll(user.id, 'password_change', source)
  }

  return {
    async confirm(opened, { newPassword, name, acceptedTermsVersion = null }, source) {
      const intent = mailedIntents.spend(opened)
      const { user } = intent
      const owner = { name, termsVersion: acceptedTermsVersion }
      const shown = { intent, newPassword, owner, source }
      if (intent.isWritten) {
        await goOn(shown)
      } else if (user.emailVerifiedAt === null) {
        const settings = settingsFor(deps.surface, await deps.settings())
        await apply(linkProof(user, settings, newPassword !== undefined), shown)
      }
      // A stranger who guessed at the password does not keep out the owner, who is proved.
      await passwordCheck.clear(user.email)
      // Taken last, and deciding: a crash before this leaves a token that works once more.
      if (!(await mailedIntents.take(intent))) throw new AuthError('invalid_token')
    },
  }
}
