import { equalConstantTime, isUuid, randomToken, sha256 } from '../../crypto/secrets.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { AuthError } from '../../errors/index.js'
import { type Ticket, type TicketPurpose, ticketPurposes } from '../../model/intents.js'
import type { User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  type OpenedIntent,
  openAnonymousIntent,
  openIntent,
  type SpentIntent,
} from './intent-judge.js'

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

async function read<P extends TicketPurpose>(
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
  const { purpose, ticket } = await read(ctx, token, purposes)
  const { userId, secretHash, sessionEpoch, credentialEpoch, deviceEpoch, expiresAt } = ticket
  const email = canonicalEmail(ticket.email) ?? ''
  const epochs = { sessionEpoch, credentialEpoch, deviceEpoch }
  const facts = { id: secretHash, userId, email, ...epochs, expiresAt }
  return openIntent(ctx, purpose, facts, ticket)
}

/** As `openMailedTicket`, for a link to an address without an account. */
export async function openRegistrationTicket(
  ctx: SurfaceContext,
  token: string,
): Promise<OpenedIntent<'register', null>> {
  const { ticket } = await read(ctx, token, ['register'])
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
