import { equalConstantTime, isUuid, randomToken, sha256 } from '../../crypto/secrets.js'
import { registrationKeys } from '../../engine/accounts.js'
import { budgetIn, type GuessBudget } from '../../engine/guess-budgets.js'
import type { IntentEpochs } from '../../engine/intents.js'
import { AuthError } from '../../errors/index.js'
import type { Collections } from '../../model/collections.js'
import { type Intents, type LinkKind, linkKinds } from '../../model/intents.js'
import type { User } from '../../model/user.js'
import { newestFirst } from '../../stores/pages.js'
import { subjectOf } from '../limits/lockout.js'
import { requireSigner } from '../sessions/tokens.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  attemptIntent,
  forgiveAttempt,
  type IntentTerms,
  intentOf,
  issueIntent,
  judgeIntentAgain,
  type OpenedIntent,
  openAnonymousIntent,
  openIntent,
  type SpentIntent,
  spendIntent,
  unlessRefused,
} from './intents.js'
import { type BrowserKeys, isOwnBrowser } from './oauth-flows.js'

// Logins that wait for a second factor. All throw `mfa_ticket_invalid` for whatever is wrong: another
// token, another browser (login CSRF; RFC 9700 §4.7), or an account that changed since: the password,
// say, or its factors, or the provider that the login came by is off or linked no more.

/** The step that a login still lacks. */
export type LoginKind = 'secondFactor' | 'enrollment'

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

async function readLoginTicket<K extends LoginKind>(
  ctx: SurfaceContext,
  { mfaToken, browserKeys }: ShownTicket,
  kind: K,
): Promise<Intents[K]> {
  const ticket = intentOf(ctx, kind, await ctx.collections.challenges.get(sha256(mfaToken)))
  if (ticket === null || ticket.expiresAt <= ctx.clock.now()) {
    throw new AuthError('mfa_ticket_invalid')
  }
  const { boundTo } = ticket
  if (boundTo !== null && !isOwnBrowser(boundTo, browserKeys)) {
    throw new AuthError('mfa_ticket_invalid')
  }
  return ticket
}

async function take(ctx: SurfaceContext, id: string): Promise<boolean> {
  return (await ctx.collections.challenges.take(id)) !== null
}

export async function issueLoginTicket(
  ctx: SurfaceContext,
  kind: LoginKind,
  terms: Omit<IntentTerms<LoginKind>, 'lifeMs'>,
): Promise<IssuedLoginTicket> {
  const mfaToken = randomToken(ctx.random)
  await issueIntent(ctx, kind, mfaToken, { ...terms, lifeMs })
  return { mfaToken, expiresIn: lifeMs / 1000 }
}

/** Whether its login still waits. Whether it may go on is not asked. */
export async function isLoginWaiting(ctx: SurfaceContext, mfaToken: string): Promise<boolean> {
  const ticket = await ctx.collections.challenges.get(sha256(mfaToken))
  return ticket !== null && ticket.expiresAt > ctx.clock.now()
}

/** What a ceremony of this login is bound to. */
export function loginTicketIdOf({ mfaToken }: Pick<ShownTicket, 'mfaToken'>): string {
  return sha256(mfaToken)
}

/**
 * Whose login waits. No guess is counted: the password alone must not use up the guesses of the
 * account, so each ticket has a limit of its own. Throws `rate_limited`.
 */
export async function openLoginTicket<K extends LoginKind>(
  ctx: SurfaceContext,
  shown: ShownTicket,
  kind: K,
): Promise<OpenedIntent<K>> {
  const ticket = await readLoginTicket(ctx, shown, kind)
  await ctx.limits.check('mfaPerTicket', ticket.id)
  return openIntent(ctx, kind, ticket)
}

/**
 * Counts a guess before `check` looks at it, so that parallel guesses cannot share one; the last
 * wrong one destroys the ticket. A void ticket reaches no check. Throws `invalid_mfa_code` and
 * `rate_limited`.
 */
export async function attemptLoginTicket<K extends LoginKind>(
  ctx: SurfaceContext,
  shown: ShownTicket,
  kind: K,
  check: (opened: OpenedIntent<K>, budget: GuessBudget) => Promise<boolean>,
): Promise<OpenedIntent<K>> {
  const { mfaMaxAttempts } = await ctx.settings()
  const ticket = await readLoginTicket(ctx, shown, kind)
  const budget = budgetIn(ticket.payload.budget)
  await ctx.limits.check('mfaPerUser', subjectOf(ticket.userId, budget))
  // A code is good once, a backup code for ever gone: neither is spent on a login that no key would sign.
  await requireSigner(ctx)
  const counted = await attemptIntent(ctx, ticket.id, mfaMaxAttempts)
  if (counted === null) throw new AuthError('mfa_ticket_invalid')
  async function checked() {
    const intent = await openIntent(ctx, kind, ticket)
    return { intent, ok: await check(intent, budget) }
  }
  const outcome = await checked().catch(async (error: unknown) => {
    if (error instanceof AuthError && error.code === 'invalid_mfa_code') return null
    // It could not be checked: the guess is handed back.
    await forgiveAttempt(ctx, ticket.id)
    throw error
  })
  if (outcome?.ok) return outcome.intent
  if (counted.attempts < mfaMaxAttempts) throw new AuthError('invalid_mfa_code')
  await take(ctx, ticket.id)
  throw new AuthError('mfa_ticket_invalid')
}

/**
 * The login may go on, and does so for one caller. `enrolled` is the factor that it added itself.
 */
export async function spendLoginTicket<K extends LoginKind>(
  ctx: SurfaceContext,
  intent: OpenedIntent<K>,
  enrolled: EnrolledByLogin | null = null,
): Promise<SpentIntent<K>> {
  const spent = spendIntent(
    await judgeIntentAgain(ctx, intent, enrolled === null ? null : enrolled.id),
  )
  // Taken before the session is opened: a crash in between costs a login, and gives none away.
  if (!(await take(ctx, spent.id))) throw new AuthError('mfa_ticket_invalid')
  return spent
}

// One-time links of one user and kind. The newest alone is good.

export interface IssuedTicket {
  /** Opaque; 32 random bytes behind a locator. Not stored. */
  readonly token: string
  readonly expiresAt: number
}

/** A link replaces any earlier one of this user and kind. */
export async function issueMailedTicket<K extends LinkKind>(
  ctx: SurfaceContext,
  kind: K,
  terms: IntentTerms<K> & { readonly user: Pick<User, 'id'> & IntentEpochs },
): Promise<IssuedTicket> {
  const secret = randomToken(ctx.random)
  const expiresAt = await issueIntent(ctx, kind, secret, terms)
  const locator = Buffer.from(`${kind}:${terms.user.id}`).toString('base64url')
  return { token: `${locator}.${secret}`, expiresAt }
}

async function readTicket<K extends LinkKind>(
  ctx: SurfaceContext,
  token: string,
  kind: K,
): Promise<Intents[K]> {
  const parsed = parseToken(token)
  if (parsed?.kind !== kind) throw new AuthError('invalid_token')
  const ticket = intentOf(ctx, kind, await ctx.collections.intents.get(parsed.id))
  if (ticket === null || !equalConstantTime(ticket.secretHash, sha256(parsed.secret))) {
    throw new AuthError('invalid_token')
  }
  return ticket
}

/**
 * The intent of a token; nothing is spent. Throws `invalid_token`, `token_expired` and
 * `password_login_disabled`.
 */
export async function openMailedTicket<K extends LinkKind>(
  ctx: SurfaceContext,
  token: string,
  kind: K,
): Promise<OpenedIntent<K>> {
  return openIntent(ctx, kind, await readTicket(ctx, token, kind))
}

/** As `openMailedTicket`, for a link to an address without an account. */
export async function openRegistrationTicket(
  ctx: SurfaceContext,
  token: string,
): Promise<OpenedIntent<'register', null>> {
  return openAnonymousIntent(ctx, 'register', await readTicket(ctx, token, 'register'))
}

/** What a token says it is for; null for a text that is no token of a link. */
export function mailedKindOf(token: string): LinkKind | null {
  return parseToken(token)?.kind ?? null
}

/** Takes it once its effect is written; true for the one caller that did. */
export async function takeMailedTicket(
  ctx: SurfaceContext,
  { stored: { id, secretHash } }: SpentIntent<LinkKind, User | null>,
): Promise<boolean> {
  return (await ctx.collections.intents.take(id, { secretHash })) !== null
}

/** Null without a key: who has none is not known again. */
function confirmedSecret(secretHash: string, shown: string | null): string | null {
  const keys = registrationKeys(shown).join('.')
  return keys === '' ? null : `confirmed ${secretHash} ${keys}`
}

const confirmedMs = 10 * 60 * 1000

/** To be called before the link is taken, so that whoever finds it gone finds this. */
export async function noteConfirmed(
  ctx: SurfaceContext,
  { stored: { boundTo, secretHash } }: SpentIntent<'register' | 'verifyEmail', User | null>,
  shown: string | null,
): Promise<void> {
  const secret = confirmedSecret(secretHash, shown)
  if (secret === null) return
  const [user] = await ctx.collections.users.find({ email: boundTo }, { limit: 1 })
  if (user === undefined) return
  const terms = { user, boundTo: null, payload: {}, lifeMs: confirmedMs }
  await issueIntent(ctx, 'confirmedLink', secret, terms)
}

/**
 * What a link confirmed in the last ten minutes for this browser or app. Null for any other, and if the account's
 * credentials changed since.
 */
export async function findConfirmed(
  ctx: SurfaceContext,
  token: string,
  shown: string | null,
): Promise<{ readonly id: string; readonly user: User } | null> {
  const parsed = parseToken(token)
  const secret = parsed && confirmedSecret(sha256(parsed.secret), shown)
  if (secret === null) return null
  const id = sha256(secret)
  const stored = await ctx.collections.challenges.get(id)
  const note = intentOf(ctx, 'confirmedLink', stored)
  if (note === null) return null
  const opened = await unlessRefused('confirmedLink', openIntent(ctx, 'confirmedLink', note))
  return opened && { id, user: opened.user }
}

/** Removes the links that would make an account of the address. */
export async function takeRegistrationLinks(
  { intents }: Pick<Collections, 'intents'>,
  email: string,
): Promise<void> {
  for await (const { id, kind } of newestFirst(intents, { boundTo: email })) {
    if (kind === 'register') await intents.take(id)
  }
}

function parseToken(
  token: string,
): { readonly id: string; readonly secret: string; readonly kind: LinkKind } | null {
  const dot = token.indexOf('.')
  if (token.length > 256 || dot < 1) return null
  const id = Buffer.from(token.slice(0, dot), 'base64url').toString('utf8')
  const kind = linkKinds.find((known) => id.startsWith(`${known}:`))
  if (kind === undefined || !isUuid(id.slice(kind.length + 1))) return null
  return { id, secret: token.slice(dot + 1), kind }
}
