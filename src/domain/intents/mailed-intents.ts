import { equalConstantTime, randomToken, sha256 } from '../../crypto/secrets.js'
import { isUuid } from '../../crypto/uuid.js'
import { AuthError } from '../../errors/index.js'
import type { Ticket, TicketPurpose } from '../../model/ticket.js'
import type { User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SurfaceContext } from '../context/surface-context.js'

export interface IssuedTicket {
  /** Opaque; 32 random bytes behind a locator. Not stored. */
  readonly token: string
  readonly expiresAt: number
}

export interface Tickets {
  /** Replaces any earlier ticket of this user and purpose. `mailedTo` is null when it is not mailed. */
  issue(
    user: User,
    purpose: TicketPurpose,
    ttlMs: number,
    mailedTo: string | null,
  ): Promise<IssuedTicket>
  /** The ticket of a token. Throws `invalid_token` or `token_expired`; spends nothing. */
  read(token: string, purposes: readonly TicketPurpose[]): Promise<Ticket>
  /** Spends the ticket; true for the one caller that did. */
  take(ticket: Ticket): Promise<boolean>
}

/** A racing `issue` may win the insert or the replacement in between; each try sees the newest. */
const attempts = 5

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'random'>

export function createTickets(deps: Deps): Tickets {
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

  return {
    async issue(user, purpose, ttlMs, mailedTo) {
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
        email: mailedTo ?? '',
        expiresAt,
      })
      return { token: `${Buffer.from(id).toString('base64url')}.${secret}`, expiresAt }
    },

    async read(token, purposes) {
      const parsed = parseToken(token, purposes)
      const ticket = parsed === null ? null : await tickets.get(parsed.id)
      if (parsed === null || ticket === null) throw new AuthError('invalid_token')
      if (!equalConstantTime(ticket.secretHash, sha256(parsed.secret))) {
        throw new AuthError('invalid_token')
      }
      if (ticket.expiresAt <= clock.now()) throw new AuthError('token_expired')
      return ticket
    },

    async take(ticket) {
      return (await tickets.take(ticket.id, { secretHash: ticket.secretHash })) !== null
    },
  }
}

function parseToken(
  token: string,
  purposes: readonly TicketPurpose[],
): { readonly id: string; readonly secret: string } | null {
  const dot = token.indexOf('.')
  if (token.length > 256 || dot < 1) return null
  const id = Buffer.from(token.slice(0, dot), 'base64url').toString('utf8')
  const purpose = purposes.find((known) => id.startsWith(`${known}:`))
  if (purpose === undefined || !isUuid(id.slice(purpose.length + 1))) return null
  return { id, secret: token.slice(dot + 1) }
}
