import { isUuid } from '../../crypto/secrets.js'
import type { PendingRegistration } from '../../model/user.js'
import { newestFirst } from '../../stores/newest-first.js'
import { type Actor, actBy } from '../context/actor.js'
import { hostPage } from '../context/host-page.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { PendingRegistrations } from '../intents/pending-registrations.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { RegistrationMails } from './registration-mails.js'

/** A registration whose mailbox is not proved: a stranger can register any address. */
export interface RegistrationRecord {
  /** The id of the user to be. */
  readonly id: string
  readonly email: string
  readonly name: string
  readonly termsVersion: string | null
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly expiresAt: number
}

/** A page of registrations. */
export interface RegistrationPage {
  /** Oldest first. Those of the same millisecond have no defined order. */
  readonly registrations: readonly RegistrationRecord[]
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The page of registrations to read. */
export interface RegistrationPageRequest {
  /** 1 to 200. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string
}

/**
 * The registrations of one surface that wait for their confirmation, for the host's code: no permission
 * is checked. An address can have several, made in different browsers or apps. Methods throw
 * `service_unavailable` when the store fails.
 */
export interface Registrations {
  /** Those that are live. Throws `invalid_request` for a page out of bounds. */
  list(page?: RegistrationPageRequest): Promise<RegistrationPage>
  /**
   * Mails a link to its address once more; earlier ones stay good. False for an unknown id. Throws
   * `rate_limited` from the fourth in an hour on.
   */
  resend(id: string, by?: Actor): Promise<boolean>
  /**
   * Removes it, and the links to its address unless another registration waits there. False for an
   * unknown id.
   */
  remove(id: string): Promise<boolean>
}

interface Deps extends Pick<SurfaceContext, 'collections' | 'clock' | 'emit'> {
  readonly limits: RateLimiter
}

interface Services {
  readonly mails: RegistrationMails
  readonly pendingRegistrations: PendingRegistrations
}

export function createRegistrations(deps: Deps, services: Services): Registrations {
  const { mails, pendingRegistrations: pending } = services
  const { collections } = deps
  const { tickets } = collections

  const ofUser = async (id: string) => (isUuid(id) ? pending.ofUser(id) : null)

  async function removeLinks(email: string): Promise<void> {
    for await (const { id, purpose } of newestFirst(tickets, { email })) {
      if (purpose === 'register') await tickets.take(id)
    }
  }

  return {
    async list(request = {}) {
      const page = hostPage(request)
      const found = await collections.pendingRegistrations.find({ method: 'password' }, page.read)
      const { shown, next } = page.cut(found)
      const now = deps.clock.now()
      return { registrations: shown.filter(({ expiresAt }) => expiresAt > now).map(recordOf), next }
    },

    async resend(id, by = {}) {
      const { actorId, source } = actBy(by)
      const found = await ofUser(id)
      if (found === null) return false
      await deps.limits.check('recoveryPerAddress', `verify for ${found.email}`)
      mails.again(found.email, [])
      deps.emit('email.verificationRequested', source, { actorId, userId: id })
      return true
    },

    async remove(id) {
      const found = await ofUser(id)
      if (found === null) return false
      // Links first: repeated after a rejection, it goes on.
      const equal = { email: found.email }
      const others = await collections.pendingRegistrations.find(equal, { limit: 2 })
      if (others.every((other) => other.id === id)) await removeLinks(found.email)
      return pending.take(found)
    },
  }
}

function recordOf(registration: PendingRegistration): RegistrationRecord {
  const { id, emailAsTyped: email, name, termsVersion, createdAt, expiresAt } = registration
  return { id, email, name, termsVersion, createdAt, expiresAt }
}
