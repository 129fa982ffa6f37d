import { equalConstantTime, isUuid, randomToken, sha256 } from '../../crypto/secrets.js'
import { enrolledMark } from '../../engine/factors.js'
import { AuthError } from '../../errors/index.js'
import {
  type LoginTicket,
  type LoginTicketPurpose,
  type Ticket,
  type TicketPurpose,
  ticketPurposes,
} from '../../model/intents.js'
import type { User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { readEmail } from '../context/email-address.js'
import { requireSigner } from '../sessions/tokens.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  judgeIntentAgain,
  type OpenedIntent,
  openAnonymousIntent,
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

async function readLoginTicket(
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
  const ticket = await readLoginTicket(ctx, shown, purpose)
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
  const found = await readLoginTicket(ctx, shown, purpose)
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

// One-time links of one user and purpose. The newest alone is good.

export interface IssuedTicket {
  /** Opaque; 32 random bytes behind a locator. Not stored. */
  readonly token: string
  readonly expiresAt: number
}

/** What a link is made for. */
export interface TicketTerms {
  readonly purpose: TicketPurpose
  readonly ttlMs: number
  /** The address it is mailed to; null when it is not mailed. */
  readonly mailedTo: string | null
  /** The session that asked for it; null when none did. */
  readonly sessionId: string | null
}

/** A racing `issue` may win the insert or the replacement in between; each try sees the newest. */
const attempts = 5

async function put(ctx: SurfaceContext, ticket: Ticket): Promise<void> {
  const { id, ...fields } = ticket
  await retryOnConflict(attempts, async () => {
    const older = await ctx.collections.tickets.get(id)
    if (older === null) return (await ctx.collections.tickets.insert(ticket)) || conflict
    return (
      (await ctx.collections.tickets.update(id, { secretHash: older.secretHash }, fields)) ??
      conflict
    )
  })
}

async function readTicket<P extends TicketPurpose>(
  ctx: SurfaceContext,
  token: string,
  purposes: readonly P[],
): Promise<{ readonly purpose: P; readonly ticket: Ticket }> {
  const parsed = parseToken(token, purposes)
  const ticket = parsed === null ? null : await ctx.collections.tickets.get(parsed.id)
  if (parsed === null || ticket === null) throw new AuthError('invalid_token')
  if (!equalConstantTime(ticket.secretHash, sha256(parsed.secret))) {
    throw new AuthError('invalid_token')
  }
  return { purpose: parsed.purpose, ticket }
}

/** Replaces any earlier ticket of this user and purpose. */
export async function issueMailedTicket(
  ctx: SurfaceContext,
  user: Pick<User, 'id' | 'sessionEpoch' | 'credentialEpoch' | 'deviceEpoch'>,
  { purpose, ttlMs, mailedTo, sessionId }: TicketTerms,
): Promise<IssuedTicket> {
  const secret = randomToken(ctx.random)
  const id = `${purpose}:${user.id}`
  const expiresAt = ctx.clock.now() + ttlMs
  await put(ctx, {
    id,
    userId: user.id,
    purpose,
    secretHash: sha256(secret),
    credentialEpoch: user.credentialEpoch,
    sessionEpoch: user.sessionEpoch,
    deviceEpoch: user.deviceEpoch,
    email: mailedTo ?? '',
    sessionId: sessionId ?? '',
    expiresAt,
  })
  return { token: `${Buffer.from(id).toString('base64url')}.${secret}`, expiresAt }
}

/**
 * The intent of a token; nothing is spent. Throws `invalid_token`, `token_expired` and
 * `password_login_disabled`.
 */
export async function openMailedTicket<P extends TicketPurpose>(
  ctx: SurfaceContext,
  token: string,
  purposes: readonly P[],
): Promise<OpenedIntent<P>> {
  const { purpose, ticket } = await readTicket(ctx, token, purposes)
  const { userId, secretHash, sessionEpoch, credentialEpoch, deviceEpoch, expiresAt } = ticket
  const email = (await readEmail(ticket.email)) ?? ''
  const epochs = { sessionEpoch, credentialEpoch, deviceEpoch }
  const facts = { id: secretHash, userId, email, ...epochs, expiresAt }
  return openIntent(ctx, purpose, facts, ticket)
}

/** As `openMailedTicket`, for a link to an address without an account. */
export async function openRegistrationTicket(
  ctx: SurfaceContext,
  token: string,
): Promise<OpenedIntent<'register', null>> {
  const { ticket } = await readTicket(ctx, token, ['register'])
  const { secretHash: id, email, expiresAt } = ticket
  return openAnonymousIntent(ctx, 'register', { id, email, expiresAt }, ticket)
}

/** What a token says it is for; null for a text that is no token of a link. */
export function mailedPurposeOf(token: string): TicketPurpose | null {
  return parseToken(token, ticketPurposes)?.purpose ?? null
}

/** Takes it once its effect is written; true for the one caller that did. */
export async function takeMailedTicket(
  ctx: SurfaceContext,
  { payload: { id, secretHash } }: SpentIntent<TicketPurpose, User | null>,
): Promise<boolean> {
  return (await ctx.collections.tickets.take(id, { secretHash })) !== null
}

function parseToken<P extends TicketPurpose>(
  token: string,
  purposes: readonly P[],
): { readonly id: string; readonly secret: string; readonly purpose: P } | null {
  const dot = token.indexOf('.')
  if (token.length > 256 || dot < 1) return null
  const id = Buffer.from(token.slice(0, dot), 'base64url').toString('utf8')
  const purpose = purposes.find((known) => id.startsWith(`${known}:`))
  if (purpose === undefined || !isUuid(id.slice(purpose.length + 1))) return null
  return { id, secret: token.slice(dot + 1), purpose }
}
