import { canonicalEmail, isDomainAllowed, isUndeliverable } from '../engine/email.js'
import { settingsFor } from '../engine/surface-settings.js'
import { AuthError } from '../errors.js'
import type { Ticket } from '../model/ticket.js'
import { isHuman, type User } from '../model/user.js'
import type { Occasion } from './occasion.js'
import type { SignedIn } from './principal.js'
import type { ReAuthentication } from './re-authentication.js'
import type { SurfaceDeps } from './surface-deps.js'
import type { Tickets } from './tickets.js'

/** Moving an account to another address: asked for by its owner, confirmed from the new mailbox. */
export interface EmailChange {
  /**
   * Mails a link to the new address, and a notice to the present one. That the new one has an account
   * its owner is told, and nobody else. Throws `invalid_request`, `email_not_allowed`,
   * `email_domain_not_allowed`, `rate_limited`, and what re-authentication throws.
   */
  request(
    who: SignedIn,
    input: { readonly newEmail: string; readonly currentPassword: string | undefined },
    occasion: Occasion,
  ): Promise<void>
  /**
   * Spends the link. Voids every link mailed before, sessions go on. Throws `invalid_token`, also
   * when somebody else has the address by now, and when all sessions were ended since it was mailed.
   */
  confirm(ticket: Ticket, occasion: Occasion): Promise<void>
}

type Deps = Pick<
  SurfaceDeps,
  'surface' | 'collections' | 'clock' | 'settings' | 'limits' | 'mail' | 'background' | 'emit'
>

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

  /** An earlier link is void either way. Of one's own address there is nothing to confirm. */
  async function sendLink(user: User, typed: string, email: string, linkMs: number): Promise<void> {
    const ticket = await tickets.issue(user, 'changeEmail', linkMs, typed)
    const [owner] = await users.find({ email }, { limit: 1 })
    if (owner === undefined) deps.mail.changeEmail(user, email, ticket)
    else if (owner.id !== user.id) deps.mail.accountExists({ email, name: '' })
  }

  /** By an earlier attempt, that was cut off or whose answer was lost. */
  const isMoved = (user: User, email: string, ticket: Ticket): boolean =>
    user.email === email && user.credentialEpoch === ticket.credentialEpoch + 1

  const isReplaced = async ({ id }: Ticket): Promise<boolean> =>
    (await deps.collections.tickets.get(id)) !== null

  /** Whether the account has the address now, and by which attempt. */
  async function move(
    user: User,
    email: string,
    ticket: Ticket,
  ): Promise<{ readonly by: 'this' | 'earlier' } | null> {
    if (isMoved(user, email, ticket)) return { by: 'earlier' }
    const { credentialEpoch, sessionEpoch } = ticket
    const now = clock.now()
    const moved = await users.update(
      user.id,
      // Whoever is alarmed by the notice ends all sessions: what one of them asked for ends as well.
      { credentialEpoch, sessionEpoch, enabled: true, kind: '' },
      {
        email,
        emailAsTyped: ticket.email,
        emailVerifiedAt: now,
        credentialEpoch: credentialEpoch + 1,
        updatedAt: now,
      },
    )
    return moved === null || moved === 'taken' ? null : { by: 'this' }
  }

  return {
    async request(who, { newEmail, currentPassword }, occasion) {
      const { user } = who
      await reAuthentication.require(who, currentPassword, occasion)
      const email = await admit(newEmail)
      const { emailVerificationTTL, notifySecurityChanges } = await deps.settings()
      await deps.limits.check('recoveryPerAddress', `change ${email}`)
      // Beside the request: what differs for a taken address shows in no reply and no delay.
      deps.background.run('mailing about another address', () =>
        sendLink(user, newEmail.trim(), email, emailVerificationTTL),
      )
      const at = clock.now()
      if (notifySecurityChanges) deps.mail.emailChangeRequested(user, at)
      deps.emit({ type: 'email.changeRequested', surface, at, ...occasion, userId: user.id })
    },

    async confirm(ticket, occasion) {
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
      if (isOurs && notifySecurityChanges) deps.mail.emailChanged(seen, { at, newEmail: email })
      // Taken last, and deciding: a crash before this leaves a token that works once more. Where a
      // newer link, asked for meanwhile, is in its place, what this one did is told all the same.
      const decides = (await tickets.take(ticket)) || (isOurs && (await isReplaced(ticket)))
      if (!decides) throw new AuthError('invalid_token')
      deps.emit({ type: 'email.changed', surface, at, ...occasion, userId: seen.id })
    },
  }
}
