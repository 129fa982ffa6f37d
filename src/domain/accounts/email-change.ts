import { canonicalEmail, isDomainAllowed, isUndeliverable } from '../../engine/email.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { Ticket } from '../../model/ticket.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { ReAuthentication } from '../factors/re-authentication.js'
import type { Tickets } from '../intents/mailed-intents.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { MailService } from '../mail/mail-service.js'

/** Moving an account to another address: asked for by its owner, confirmed from the new mailbox. */
export interface EmailChange {
  /**
   * Mails a link to the new address, and a notice to the present one. If the new one has an account,
   * only its owner is notified. Throws `invalid_request`, `email_not_allowed`,
   * `email_domain_not_allowed`, `rate_limited`, and what re-authentication throws.
   */
  request(
    who: SignedIn,
    input: { readonly newEmail: string; readonly currentPassword: string | undefined },
    source: RequestSource,
  ): Promise<void>
  /**
   * Spends the link. Voids every link mailed before, sessions go on. Throws `invalid_token`, also
   * when another account has the address by now, and when all sessions were ended since it was mailed.
   */
  confirm(ticket: Ticket, source: RequestSource): Promise<void>
}

interface Deps
  extends Pick<
    SurfaceContext,
    'surface' | 'collections' | 'clock' | 'settings' | 'background' | 'emit'
  > {
  readonly limits: RateLimiter
  readonly mail: MailService
}

export function createEmailChange(
  deps: Deps,
  tickets: Tickets,
  reAuthentication: ReAuthentication,
): EmailChange {
  const { surface, clock } = deps
  const { users } = deps.collections

  async function admit(typed: string): Promise<string> {
    const { allowedDomains } = settingsFor(surface, await deps.settings())
    const email = canonicalEmail(typed)
    if (email === null) throw new AuthError('invalid_request')
    if (isUndeliverable(email)) throw new AuthError('email_not_allowed')
    if (!isDomainAllowed(email, allowedDomains)) throw new AuthError('email_domain_not_allowed')
    return email
  }

  /** An earlier link is void either way. The account's present address needs no confirmation. */
  async function sendLink(user: User, typed: string, email: string, linkMs: number): Promise<void> {
    const ticket = await tickets.issue(user, 'changeEmail', linkMs, typed)
    const [owner] = await users.find({ email }, { limit: 1 })
    if (owner === undefined) deps.mail.changeEmail(user, email, ticket)
    else if (owner.id !== user.id) deps.mail.accountExists({ email, name: '' })
  }

  /** By an earlier attempt, that was cut off or whose answer was lost. */
  const isMoved = (user: User, email: string, ticket: Ticket): boolean =>
    user.email === email && user.credentialEpoch === ticket.credentialEpoch + 1

  /**
   * Spends the ticket. Where a newer ticket, asked for meanwhile, is in its place, the event of this
   * request is emitted anyway.
   */
  async function spend(ticket: Ticket, isOurs: boolean): Promise<boolean> {
    if (await tickets.take(ticket)) return true
    return isOurs && (await deps.collections.tickets.get(ticket.id)) !== null
  }

  /** Whose write gave the account the address; null when it does not have it. */
  async function move(
    user: User,
    email: string,
    ticket: Ticket,
  ): Promise<{ readonly by: 'this' | 'other' } | null> {
    if (isMoved(user, email, ticket)) return { by: 'other' }
    const { credentialEpoch, sessionEpoch } = ticket
    const now = clock.now()
    const moved = await users.update(
      user.id,
      // An owner alarmed by the notice ends all sessions, which also voids what one of them asked for.
      { credentialEpoch, sessionEpoch, enabled: true, kind: '' },
      {
        email,
        emailAsTyped: ticket.email,
        emailVerifiedAt: now,
        credentialEpoch: credentialEpoch + 1,
        updatedAt: now,
      },
    )
    if (moved !== null) return { by: 'this' }
    // The write may have been another request's, or ours, carried out twice by a driver.
    const found = await users.get(user.id)
    return found !== null && isMoved(found, email, ticket) ? { by: 'other' } : null
  }

  return {
    async request(who, { newEmail, currentPassword }, source) {
      const { user } = who
      await reAuthentication.require(who, currentPassword, source)
      const email = await admit(newEmail)
      const { emailVerificationTTL, notifySecurityChanges } = await deps.settings()
      await deps.limits.check('recoveryPerAddress', `change ${email}`)
      // Beside the request: what differs for a taken address shows in no reply and no delay.
      deps.background.run('mailing about another address', () =>
        sendLink(user, newEmail.trim(), email, emailVerificationTTL),
      )
      const at = clock.now()
      if (notifySecurityChanges) deps.mail.emailChangeRequested(user, at)
      deps.emit('email.changeRequested', source, { at, userId: user.id })
    },

    async confirm(ticket, source) {
      const email = canonicalEmail(ticket.email)
      const seen = await users.get(ticket.userId)
      if (email === null || seen === null || !seen.enabled || !isHuman(seen)) {
        throw new AuthError('invalid_token')
      }
      const { notifySecurityChanges } = await deps.settings()
      const moved = await move(seen, email, ticket)
      if (moved === null) throw new AuthError('invalid_token')
      const isOurs = moved.by === 'this'
      const at = clock.now()
      // Only a caller who saw the earlier address can write to it: rather twice than never.
      const mayNotify = notifySecurityChanges && seen.email !== email
      if (isOurs && mayNotify) deps.mail.emailChanged(seen, { at, newEmail: email })
      // Taken last, and deciding: a crash before this leaves a token that works once more.
      if (!(await spend(ticket, isOurs))) throw new AuthError('invalid_token')
      if (!isOurs && mayNotify) deps.mail.emailChanged(seen, { at, newEmail: email })
      deps.emit('email.changed', source, { at, userId: seen.id })
    },
  }
}
