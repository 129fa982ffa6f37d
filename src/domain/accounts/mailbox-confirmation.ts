import { type LinkProof, linkProof } from '../../engine/owner-proof.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { Ticket } from '../../model/ticket.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { Tickets } from '../intents/mailed-intents.js'
import type { OwnerProof } from '../passwords/owner-proof.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import type { Sessions } from '../sessions/sessions.js'

/** Confirms the address of an account that exists, with a link mailed to it. */
export interface MailboxConfirmation {
  /**
   * The account comes to the owner of the mailbox, see `OwnerProof`. An account with a password needs
   * `newPassword`: whoever made the account may have been a stranger. If it is the password there is,
   * that stays, and so do its sessions. Throws `password_choice_required`, which spends nothing,
   * `invalid_token`, `password_policy` and `rate_limited`.
   */
  confirm(ticket: Ticket, newPassword: string | undefined, source: RequestSource): Promise<void>
}

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'settings' | 'emit'>

interface Services {
  readonly sessions: Sessions
  readonly tickets: Tickets
  readonly ownerProof: OwnerProof
  readonly passwordCheck: PasswordCheck
}

/** A link, and what came with it. */
interface Shown {
  readonly ticket: Ticket
  readonly newPassword: string | undefined
  readonly source: RequestSource
}

export function createMailboxConfirmation(
  deps: Deps,
  { sessions, tickets, ownerProof, passwordCheck }: Services,
): MailboxConfirmation {
  const { clock } = deps
  const { users } = deps.collections

  /** The password stays, and with it all that was made with it. */
  async function keep({ id, email, credentialEpoch }: User, source: RequestSource): Promise<void> {
    const at = clock.now()
    const guard = { emailVerifiedAt: null, credentialEpoch, email, enabled: true, kind: '' }
    const proved = await users.update(id, guard, { emailVerifiedAt: at, updatedAt: at })
    if (proved === null) {
      // The write of another request with this link, or ours, carried out twice by a driver.
      const found = await users.get(id)
      if (found === null || found.emailVerifiedAt === null) throw new AuthError('invalid_token')
      if (found.credentialEpoch !== credentialEpoch) throw new AuthError('invalid_token')
      return
    }
    deps.emit('email.verified', source, { at, userId: id })
    deps.emit('account.ownerProved', source, { at, userId: id, by: 'link' })
  }

  async function prove(user: User, newPassword: string | null, source: RequestSource) {
    const proved = await ownerProof.prove(user, { by: 'link', newPassword, source })
    if (proved === null) throw new AuthError('invalid_token')
    await sessions.endAll(user.id, 'password_change', source)
    await passwordCheck.clear(user.email)
  }

  async function apply(user: User, how: LinkProof, shown: Shown): Promise<void> {
    const { ticket, newPassword, source } = shown
    if (how === 'ask' || (how === 'compare' && newPassword === undefined)) {
      throw new AuthError('password_choice_required')
    }
    if (how === 'compare' && newPassword !== undefined) {
      const isPresent = await passwordCheck.ofLink(ticket, user, newPassword)
      return isPresent ? keep(user, source) : prove(user, newPassword, source)
    }
    return prove(user, how === 'choose' ? (newPassword ?? null) : null, source)
  }

  /**
   * An earlier attempt proved the mailbox and the rest was not done: the same request again completes
   * it. The token may also have been voided otherwise: so this is a guess, and counts as one.
   */
  async function goOn(user: User, { ticket, newPassword, source }: Shown): Promise<void> {
    const { credentialEpoch, passwordHash } = user
    // The password stayed, or there was nothing to retire.
    if (credentialEpoch === ticket.credentialEpoch) return
    if (credentialEpoch !== ticket.credentialEpoch + 1) throw new AuthError('invalid_token')
    if (passwordHash !== null) {
      const isOurs = newPassword !== undefined && passwordCheck.ofLink(ticket, user, newPassword)
      if (!(await isOurs)) throw new AuthError('invalid_token')
    }
    await sessions.endAll(user.id, 'password_change', source)
  }

  return {
    async confirm(ticket, newPassword, source) {
      const user = await users.get(ticket.userId)
      if (user === null || !user.enabled || !isHuman(user) || user.email !== ticket.email) {
        throw new AuthError('invalid_token')
      }
      const shown = { ticket, newPassword, source }
      if (user.emailVerifiedAt !== null) {
        await goOn(user, shown)
      } else {
        if (user.credentialEpoch !== ticket.credentialEpoch) throw new AuthError('invalid_token')
        const settings = settingsFor(deps.surface, await deps.settings())
        await apply(user, linkProof(user, settings, newPassword !== undefined), shown)
      }
      // Taken last, and deciding: a crash before this leaves a token that works once more.
      if (!(await tickets.take(ticket))) throw new AuthError('invalid_token')
    },
  }
}
