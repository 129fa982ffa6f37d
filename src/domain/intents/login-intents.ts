import { randomToken, sha256 } from '../../crypto/secrets.js'
import { enrolledMark } from '../../engine/factors.js'
import { AuthError } from '../../errors/index.js'
import type { LoginTicket, LoginTicketPurpose } from '../../model/intents.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { requireSigner } from '../sessions/tokens.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  judgeIntentAgain,
  type OpenedIntent,
  openIntent,
  type SpentIntent,
  spendIntent,
} from './intent-judge.js'
import { type BrowserKeys, isOwnBrowser } from './oauth-flows.js'

// Logins that wait for a second factor. All throw `mfa_ticket_invalid` for whatever is wrong: another
// token, another browser (login CSRF; RFC 9700 §4.7), or an account that changed since: the password,
// say, or its factors, or the provider that the login came by is off or linked no more.

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

/** Long enough to take a phone out; a stolen ticket is worthless soon. */
const lifeMs = 5 * 60 * 1000

/** Racing guesses move the count; each loses to another at most `mfaMaxAttempts` (10) times. */
const tries = 24

async function read(
  ctx: SurfaceContext,
  { mfaToken, browserKeys }: ShownTicket,
  purpose: LoginTicketPurpose,
): Promise<LoginTicket> {
  const ticket = await ctx.collections.loginTickets.get(sha256(mfaToken))
  if (ticket?.purpose !== purpose || ticket.expiresAt <= ctx.clock.now()) {
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
  ctx: SurfaceContext,
  id: string,
  next: (attempts: number) => number | null,
): Promise<LoginTicket | null> {
  const attempt = async () => {
    const seen = await ctx.collections.loginTickets.get(id)
    if (seen === null) return null
    const attempts = next(seen.attempts)
    if (attempts === null) return null
    const guard = { attempts: seen.attempts }
    return (await ctx.collections.loginTickets.update(id, guard, { attempts })) ?? conflict
  }
  return retryOnConflict(tries, attempt, () => null)
}

async function count(ctx: SurfaceContext, id: string, most: number): Promise<LoginTicket> {
  const counted = await move(ctx, id, (attempts) => (attempts < most ? attempts + 1 : null))
  if (counted === null) throw new AuthError('mfa_ticket_invalid')
  return counted
}

async function take(ctx: SurfaceContext, id: string): Promise<boolean> {
  return (await ctx.collections.loginTickets.take(id)) !== null
}

/** Hands back a guess that could not be checked. */
function forgive(ctx: SurfaceContext, id: string): Promise<unknown> {
  return move(ctx, id, (attempts) => (attempts > 0 ? attempts - 1 : null))
}

function opened<P extends LoginTicketPurpose>(
  ctx: SurfaceContext,
  purpose: P,
  ticket: LoginTicket,
): Promise<OpenedIntent<P>> {
  const { id, userId, loginMethod, identityId, oauthCodeId, expiresAt } = ticket
  const { sessionEpoch, credentialEpoch, deviceEpoch } = ticket
  const epochs = { sessionEpoch, credentialEpoch, deviceEpoch }
  const first = { method: loginMethod, identityId, oauthCodeId }
  return openIntent(ctx, purpose, { id, userId, first, ...epochs, expiresAt }, ticket)
}

export async function issueLoginTicket(
  ctx: SurfaceContext,
  facts: Omit<LoginTicket, 'id' | 'attempts' | 'expiresAt'>,
): Promise<IssuedLoginTicket> {
  const mfaToken = randomToken(ctx.random)
  const stored = await ctx.collections.loginTickets.insert({
    id: sha256(mfaToken),
    ...facts,
    attempts: 0,
    expiresAt: ctx.clock.now() + lifeMs,
  })
  if (!stored) throw new AuthError('service_unavailable')
  return { mfaToken, expiresIn: lifeMs / 1000 }
}

/** What a ceremony of this login is bound to. */
export function loginTicketIdOf({ mfaToken }: Pick<ShownTicket, 'mfaToken'>): string {
  return sha256(mfaToken)
}

/**
 * Whose login waits. No guess is counted: the password alone must not use up the guesses of the
 * account, so each ticket has a limit of its own. Throws `rate_limited`.
 */
export async function openLoginTicket<P extends LoginTicketPurpose>(
  ctx: SurfaceContext,
  shown: ShownTicket,
  purpose: P,
): Promise<OpenedIntent<P>> {
  const ticket = await read(ctx, shown, purpose)
  await ctx.limits.check('mfaPerTicket', ticket.id)
  return opened(ctx, purpose, ticket)
}

/**
 * Counts a guess before `check` looks at it, so that parallel guesses cannot share one; the last
 * wrong one destroys the ticket. A void ticket reaches no check. Throws `invalid_mfa_code` and
 * `rate_limited`.
 */
export async function attemptLoginTicket<P extends LoginTicketPurpose>(
  ctx: SurfaceContext,
  shown: ShownTicket,
  purpose: P,
  check: (opened: OpenedIntent<P>) => Promise<boolean>,
): Promise<OpenedIntent<P>> {
  const { mfaMaxAttempts } = await ctx.settings()
  const found = await read(ctx, shown, purpose)
  await ctx.limits.check('mfaPerUser', found.userId)
  // A code is good once, a backup code for ever gone: neither is spent on a login that no key would sign.
  await requireSigner(ctx)
  const ticket = await count(ctx, found.id, mfaMaxAttempts)
  async function checked() {
    const intent = await opened(ctx, purpose, ticket)
    return { intent, ok: await check(intent) }
  }
  const outcome = await checked().catch(async (error: unknown) => {
    if (error instanceof AuthError && error.code === 'invalid_mfa_code') return null
    // It could not be checked: the guess is handed back.
    await forgive(ctx, ticket.id)
    throw error
  })
  if (outcome?.ok) return outcome.intent
  if (ticket.attempts < mfaMaxAttempts) throw new AuthError('invalid_mfa_code')
  await take(ctx, ticket.id)
  throw new AuthError('mfa_ticket_invalid')
}

/**
 * The login may go on, and does so for one caller. `enrolled` is the factor that it added itself.
 */
export async function spendLoginTicket<P extends LoginTicketPurpose>(
  ctx: SurfaceContext,
  intent: OpenedIntent<P>,
  enrolled: EnrolledByLogin | null = null,
): Promise<SpentIntent<P>> {
  const spent = spendIntent(
    await judgeIntentAgain(ctx, intent, enrolled === null ? null : enrolledMark(enrolled.id)),
  )
  // Taken before the session is opened: a crash in between costs a login, and gives none away.
  if (!(await take(ctx, spent.payload.id))) throw new AuthError('mfa_ticket_invalid')
  return spent
}
