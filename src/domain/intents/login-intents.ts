import { randomToken, sha256 } from '../../crypto/secrets.js'
import { enrolledMark } from '../../engine/factors.js'
import { AuthError } from '../../errors/index.js'
import type { LoginTicket, LoginTicketPurpose } from '../../model/intents.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { type BrowserKeys, isOwnBrowser } from './browser-keys.js'
import type { IntentJudge } from './intent-judge.js'
import type { OpenedIntent, SpentIntent } from './spent-intent.js'

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
  /** The keys of the browser it comes from: a ticket that is a browser's own is good in that browser only. */
  readonly browserKeys: BrowserKeys
}

/** A factor that a half-finished login added to its account. */
export type EnrolledByLogin = SpentIntent<'totpEnrollment' | 'passkeyRegistration'>

/**
 * Logins that wait for a second factor. All throw `mfa_ticket_invalid` for whatever is wrong: another
 * token, another browser (login CSRF; RFC 9700 §4.7), or an account that changed since: the password,
 * say, or its factors, or the provider that the login came by is off or linked no more.
 */
export interface LoginIntents {
  issue(facts: Omit<LoginTicket, 'id' | 'attempts' | 'expiresAt'>): Promise<IssuedLoginTicket>
  /** What a ceremony of this login is bound to. */
  idOf(shown: Pick<ShownTicket, 'mfaToken'>): string
  /**
   * Whose login waits. No guess is counted: the password alone must not use up the guesses of the
   * account, so each ticket has a limit of its own. Throws `rate_limited`.
   */
  open<P extends LoginTicketPurpose>(shown: ShownTicket, purpose: P): Promise<OpenedIntent<P>>
  /**
   * Counts a guess before `check` looks at it, so that parallel guesses cannot share one; the last
   * wrong one destroys the ticket. A void ticket reaches no check. Throws `invalid_mfa_code` and
   * `rate_limited`.
   */
  attempt<P extends LoginTicketPurpose>(
    shown: ShownTicket,
    purpose: P,
    check: (opened: OpenedIntent<P>) => Promise<boolean>,
  ): Promise<OpenedIntent<P>>
  /**
   * The login may go on, and does so for one caller. `enrolled` is the factor that it added itself.
   */
  spend<P extends LoginTicketPurpose>(
    opened: OpenedIntent<P>,
    enrolled?: EnrolledByLogin | null,
  ): Promise<SpentIntent<P>>
}

/** What will sign the tokens of the login: throws `service_unavailable` while no key may. */
export interface RequiresKey {
  requireKey(): Promise<unknown>
}

interface Deps extends Pick<SurfaceContext, 'collections' | 'clock' | 'random' | 'settings'> {
  readonly limits: Pick<RateLimiter, 'check'>
  readonly tokens: RequiresKey
}

/** Long enough to take a phone out; a stolen ticket is worthless soon. */
const lifeMs = 5 * 60 * 1000

/** Racing guesses move the count; each loses to another at most `mfaMaxAttempts` (10) times. */
const tries = 24

export function createLoginIntents(deps: Deps, judge: IntentJudge): LoginIntents {
  const { clock } = deps
  const { loginTickets } = deps.collections

  async function read(
    { mfaToken, browserKeys }: ShownTicket,
    purpose: LoginTicketPurpose,
  ): Promise<LoginTicket> {
    const ticket = await loginTickets.get(sha256(mfaToken))
    if (ticket?.purpose !== purpose || ticket.expiresAt <= clock.now()) {
      throw new AuthError('mfa_ticket_invalid')
    }
    const { browserHash } = ticket
    if (browserHash !== '' && !isOwnBrowser(browserHash, browserKeys)) {
      throw new AuthError('mfa_ticket_invalid')
    }
    return ticket
  }

  /** Moves the count by guarded writes; null when `next` has nothing to write. */
  function move(
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

  async function count(id: string, most: number): Promise<LoginTicket> {
    const counted = await move(id, (attempts) => (attempts < most ? attempts + 1 : null))
    if (counted === null) throw new AuthError('mfa_ticket_invalid')
    return counted
  }

  async function take(id: string): Promise<boolean> {
    return (await loginTickets.take(id)) !== null
  }

  /** Hands back a guess that could not be checked. */
  function forgive(id: string): Promise<unknown> {
    return move(id, (attempts) => (attempts > 0 ? attempts - 1 : null))
  }

  function opened<P extends LoginTicketPurpose>(
    purpose: P,
    ticket: LoginTicket,
  ): Promise<OpenedIntent<P>> {
    const { id, userId, loginMethod, identityId, oauthCodeId, expiresAt } = ticket
    const { sessionEpoch, credentialEpoch, deviceEpoch } = ticket
    const epochs = { sessionEpoch, credentialEpoch, deviceEpoch }
    const first = { method: loginMethod, identityId, oauthCodeId }
    return judge.open(purpose, { id, userId, first, ...epochs, expiresAt }, ticket)
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

    idOf: ({ mfaToken }) => sha256(mfaToken),

    async open(shown, purpose) {
      const ticket = await read(shown, purpose)
      await deps.limits.check('mfaPerTicket', ticket.id)
      return opened(purpose, ticket)
    },

    async attempt(shown, purpose, check) {
      const { mfaMaxAttempts } = await deps.settings()
      const found = await read(shown, purpose)
      await deps.limits.check('mfaPerUser', found.userId)
      // A code is good once, a backup code for ever gone: neither is spent on a login that no key would sign.
      await deps.tokens.requireKey()
      const ticket = await count(found.id, mfaMaxAttempts)
      async function checked() {
        const intent = await opened(purpose, ticket)
        return { intent, ok: await check(intent) }
      }
      const outcome = await checked().catch(async (error: unknown) => {
        if (error instanceof AuthError && error.code === 'invalid_mfa_code') return null
        // It could not be checked: the guess is handed back.
        await forgive(ticket.id)
        throw error
      })
      if (outcome?.ok) return outcome.intent
      if (ticket.attempts < mfaMaxAttempts) throw new AuthError('invalid_mfa_code')
      await take(ticket.id)
      throw new AuthError('mfa_ticket_invalid')
    },

    async spend(intent, enrolled = null) {
      const spent = judge.spend(
        await judge.again(intent, enrolled === null ? null : enrolledMark(enrolled.id)),
      )
      // Taken before the session is opened: a crash in between costs a login, and gives none away.
      if (!(await take(spent.payload.id))) throw new AuthError('mfa_ticket_invalid')
      return spent
    },
  }
}
