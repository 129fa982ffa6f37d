import { randomToken, sha256 } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import type { LoginTicket, LoginTicketPurpose } from '../../model/login-ticket.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { type BrowserKeys, isOwnBrowser } from './browser-keys.js'

/** A half-finished login as the client holds it. */
export interface IssuedLoginTicket {
  /** Opaque; 32 random bytes. Not stored. */
  readonly mfaToken: string
  /** Whole seconds. */
  readonly expiresIn: number
}

/** A ticket as it comes back. */
export interface ShownTicket {
  readonly mfaToken: string
  /** Of the browser it comes from: one that is a browser's own is good in that one only. */
  readonly browserKeys: BrowserKeys
}

export interface LoginTickets {
  issue(facts: Omit<LoginTicket, 'id' | 'attempts' | 'expiresAt'>): Promise<IssuedLoginTicket>
  /**
   * The ticket of a token, which stays. Throws `mfa_ticket_invalid` for any other token, and alike
   * for one that another browser began (login CSRF; RFC 9700 §4.7).
   */
  read(shown: ShownTicket, purpose: LoginTicketPurpose): Promise<LoginTicket>
  /**
   * Counts one guess before it is checked, so that parallel guesses cannot share one. Throws
   * `mfa_ticket_invalid` when `most` had been counted. The ticket as it is afterwards.
   */
  countGuess(ticket: LoginTicket, most: number): Promise<LoginTicket>
  /** Hands back a guess that could not be checked. */
  forgive(ticket: LoginTicket): Promise<void>
  /** Spends it; true for the one caller that did. */
  take(ticket: LoginTicket): Promise<boolean>
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'random'>

/** Long enough to take a phone out; a stolen ticket is worthless soon. */
const lifeMs = 5 * 60 * 1000

/** Racing guesses move the count; each loses to another at most `mfaMaxAttempts` (10) times. */
const tries = 24

export function createLoginTickets(deps: Deps): LoginTickets {
  const { clock } = deps
  const { loginTickets } = deps.collections

  /** Moves the count by guarded writes; null when `next` has nothing to write. */
  async function move(
    id: string,
    next: (attempts: number) => number | null,
  ): Promise<LoginTicket | null> {
    const attempt = async () => {
      const seen = await loginTickets.get(id)
      if (seen === null) return null
      const attempts = next(seen.attempts)
      if (attempts === null) return null
      const guard = { attempts: seen.attempts }
      return (await loginTickets.update(id, guard, { attempts })) ?? conflict
    }
    return retryOnConflict(tries, attempt, () => null)
  }

  return {
    async issue(facts) {
      const mfaToken = randomToken(deps.random)
      const stored = await loginTickets.insert({
        id: sha256(mfaToken),
        ...facts,
        attempts: 0,
        expiresAt: clock.now() + lifeMs,
      })
      if (!stored) throw new AuthError('service_unavailable')
      return { mfaToken, expiresIn: lifeMs / 1000 }
    },

    async read({ mfaToken, browserKeys }, purpose) {
      const ticket = await loginTickets.get(sha256(mfaToken))
      if (ticket?.purpose !== purpose || ticket.expiresAt <= clock.now()) {
        throw new AuthError('mfa_ticket_invalid')
      }
      const { browserHash } = ticket
      if (browserHash !== '' && !isOwnBrowser(browserHash, browserKeys)) {
        throw new AuthError('mfa_ticket_invalid')
      }
      return ticket
    },

    async countGuess(ticket, most) {
      const counted = await move(ticket.id, (attempts) => (attempts < most ? attempts + 1 : null))
      if (counted === null) throw new AuthError('mfa_ticket_invalid')
      return counted
    },

    async forgive(ticket) {
      await move(ticket.id, (attempts) => (attempts > 0 ? attempts - 1 : null))
    },

    async take({ id }) {
      return (await loginTickets.take(id)) !== null
    },
  }
}
