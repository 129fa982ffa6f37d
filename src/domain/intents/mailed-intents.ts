import { equalConstantTime, isUuid, randomToken, sha256 } from '../../crypto/secrets.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { AuthError } from '../../errors/index.js'
import { type Ticket, type TicketPurpose, ticketPurposes } from '../../model/intents.js'
import type { User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from './intent-judge.js'
import type { OpenedIntent, SpentIntent } from './spent-intent.js'

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

/** One-time links of one user and purpose. The newest alone is good. */
export interface MailedIntents {
  /** Replaces any earlier ticket of this user and purpose. */
  issue(
    user: Pick<User, 'id' | 'sessionEpoch' | 'credentialEpoch' | 'deviceEpoch'>,
    terms: TicketTerms,
  ): Promise<IssuedTicket>
  /**
   * The intent of a token; nothing is spent. Throws `invalid_token`, `token_expired` and
   * `password_login_disabled`.
   */
  open<P extends TicketPurpose>(token: string, purposes: readonly P[]): Promise<OpenedIntent<P>>
  /** As `open`, for a link to an address without an account. */
  openRegistration(token: string): Promise<OpenedIntent<'register', null>>
  /** What a token says it is for; null for a text that is no token of a link. */
  purposeOf(token: string): TicketPurpose | null
  /** What its effect asks for. It is still there, and good once more until it is taken. */
  spend<P extends TicketPurpose, U extends User | null>(
    opened: OpenedIntent<P, U>,
  ): SpentIntent<P, U>
  /** Takes it once its effect is written; true for the one caller that did. */
  take(intent: SpentIntent<TicketPurpose, User | null>): Promise<boolean>
}

/** A racing `issue` may win the insert or the replacement in between; each try sees the newest. */
const attempts = 5

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'random'>

export function createMailedIntents(deps: Deps, judge: IntentJudge): MailedIntents {
  const { clock, random } = deps
  const { tickets } = deps.collections

  async function put(ticket: Ticket): Promise<void> {
    const { id, ...fields } = ticket
    await retryOnConflict(attempts, async () => {
      const older = await tickets.get(id)
      if (older === null) return (await tickets.insert(ticket)) || conflict
      return (await tickets.update(id, { secretHash: older.secretHash }, fields)) ?? conflict
    })
  }

  async function read<P extends TicketPurpose>(
    token: string,
    purposes: readonly P[],
  ): Promise<{ readonly purpose: P; readonly ticket: Ticket }> {
    const parsed = parseToken(token, purposes)
    const ticket = parsed === null ? null : await tickets.get(parsed.id)
    if (parsed === null || ticket === null) throw new AuthError('invalid_token')
    if (!equalConstantTime(ticket.secretHash, sha256(parsed.secret))) {
      throw new AuthError('invalid_token')
    }
    return { purpose: parsed.purpose, ticket }
  }

  return {
    async issue(user, { purpose, ttlMs, mailedTo, sessionId }) {
      const secret = randomToken(random)
      const id = `${purpose}:${user.id}`
      const expiresAt = clock.now() + ttlMs
      await put({
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
    },

    async open(token, purposes) {
      const { purpose, ticket } = await read(token, purposes)
      const { userId, secretHash, sessionEpoch, credentialEpoch, deviceEpoch, expiresAt } = ticket
      const email = canonicalEmail(ticket.email) ?? ''
      const epochs = { sessionEpoch, credentialEpoch, deviceEpoch }
      const facts = { id: secretHash, userId, email, ...epochs, expiresAt }
      return judge.open(purpose, facts, ticket)
    },

    async openRegistration(token) {
      const { ticket } = await read(token, ['register'])
      const { secretHash: id, email, expiresAt } = ticket
      return judge.openAnonymous('register', { id, email, expiresAt }, ticket)
    },

    purposeOf: (token) => parseToken(token, ticketPurposes)?.purpose ?? null,

    spend: (opened) => judge.spendLast(opened),

    async take({ payload: { id, secretHash } }) {
      return (await tickets.take(id, { secretHash })) !== null
    },
  }
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
