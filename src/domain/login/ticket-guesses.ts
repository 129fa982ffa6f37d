import { AuthError } from '../../errors/index.js'
import type { LoginTicket } from '../../model/login-ticket.js'
import type { User } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { offeredMethods } from '../factors/offered-methods.js'
import type { LoginTickets, ShownTicket } from '../intents/login-intents.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { FederatedLogin } from './federated-login.js'

/**
 * What a half-finished login may be shown, and how often. One to enroll a factor with is void
 * as soon as the account has a factor: from then on a password alone adds none.
 */
export interface TicketGuesses {
  /**
   * Counts the guess at the ticket before `check` looks at it; the last wrong one destroys it.
   * Throws `invalid_mfa_code`, `mfa_ticket_invalid` and `rate_limited`.
   */
  guess(
    shown: ShownTicket,
    purpose: LoginTicket['purpose'],
    check: (ticket: LoginTicket) => Promise<boolean>,
  ): Promise<LoginTicket>
  /**
   * Whose ticket it is. Throws `mfa_ticket_invalid` when the account changed since: the password, say,
   * or it has the factor that it lacked, or the provider that it came by is off or linked no more, or
   * the app's code that it came by came again.
   */
  accountOf(ticket: LoginTicket): Promise<User>
  /** A ticket of this purpose and whose it is; no guess is counted. Throws as `accountOf`. */
  holder(shown: ShownTicket, purpose: LoginTicket['purpose']): Promise<TicketHolder>
}

export interface TicketHolder {
  readonly ticket: LoginTicket
  readonly user: User
}

interface Deps extends Pick<SurfaceContext, 'collections' | 'settings'> {
  readonly limits: RateLimiter
}

export function createTicketGuesses(
  deps: Deps,
  loginTickets: LoginTickets,
  federated: FederatedLogin,
): TicketGuesses {
  async function accountOf(ticket: LoginTicket): Promise<User> {
    const { userId, sessionEpoch, credentialEpoch } = ticket
    const user = await deps.collections.users.get(userId)
    const isSame = user?.sessionEpoch === sessionEpoch && user.credentialEpoch === credentialEpoch
    if (!isSame || !user.enabled) throw new AuthError('mfa_ticket_invalid')
    if (!(await federated.isValid(ticket))) throw new AuthError('mfa_ticket_invalid')
    if (ticket.purpose === 'enrollment') await checkLack(ticket)
    return user
  }

  async function checkLack({ userId }: LoginTicket): Promise<void> {
    if ((await offeredMethods(deps, userId)).length > 0) throw new AuthError('mfa_ticket_invalid')
  }

  return {
    accountOf,

    async holder(shown, purpose) {
      const ticket = await loginTickets.read(shown, purpose)
      await deps.limits.check('mfaPerUser', ticket.userId)
      return { ticket, user: await accountOf(ticket) }
    },

    async guess(shown, purpose, check) {
      const { mfaMaxAttempts } = await deps.settings()
      const read = await loginTickets.read(shown, purpose)
      await deps.limits.check('mfaPerUser', read.userId)
      const ticket = await loginTickets.countGuess(read, mfaMaxAttempts)
      const ok = await check(ticket).catch(async (error: unknown) => {
        if (error instanceof AuthError && error.code === 'invalid_mfa_code') return false
        // It could not be checked: the guess is handed back.
        await loginTickets.forgive(ticket)
        throw error
      })
      if (ok) return ticket
      if (ticket.attempts < mfaMaxAttempts) throw new AuthError('invalid_mfa_code')
      await loginTickets.take(ticket)
      throw new AuthError('mfa_ticket_invalid')
    },
  }
}
