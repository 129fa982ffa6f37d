import { uuidv7 } from '../../crypto/secrets.js'
import { registrationLifeMs } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { MailedIntents } from '../intents/mailed-intents.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { MailService } from '../mail/mail-service.js'

/**
 * Mails about registrations, all beside the request: what differs for a taken address shows in no reply
 * and no delay. A link proves the address and not one registration: each live link serves every live
 * registration of its address, so that a stranger cannot use up an owner's mails and leave them without one.
 * `languages` are of the caller who asks for the mail, and go with it.
 */
export interface RegistrationMails {
  /** How long registrations live now, and links that confirm an address, in milliseconds. */
  lifeMs(): Promise<number>
  /** About a registration: a link, or that the address has an account. Three an hour for an address. */
  registered(email: string, languages: readonly string[], source: RequestSource): void
  /** A link once more. The caller counts it, and knows that the address has no account. */
  again(email: string, languages: readonly string[]): void
  /** Tells the owner of an address that it has an account; counted as `registered`. */
  taken(email: string): void
}

interface Deps
  extends Pick<
    SurfaceContext,
    'collections' | 'clock' | 'random' | 'settings' | 'background' | 'emit'
  > {
  readonly limits: RateLimiter
  readonly mail: MailService
  readonly mailedIntents: MailedIntents
}

export function createRegistrationMails(deps: Deps): RegistrationMails {
  const { clock, background, limits, mail } = deps

  async function lifeMs(): Promise<number> {
    const { emailVerificationTTL } = await deps.settings()
    return registrationLifeMs(emailVerificationTTL, limits.windowOf('recoveryPerAddress'))
  }

  async function issue(email: string) {
    const id = uuidv7(clock.now(), deps.random)
    const toBe = { id, sessionEpoch: 0, credentialEpoch: 0, deviceEpoch: 0 }
    const terms = { ttlMs: await lifeMs(), mailedTo: email, sessionId: null }
    return deps.mailedIntents.issue(toBe, { purpose: 'register', ...terms })
  }

  async function mayMail(email: string): Promise<boolean> {
    try {
      await limits.check('recoveryPerAddress', `register ${email}`)
      return true
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return false
      throw error
    }
  }

  /**
   * What the mailer refuses does not use up the address's mails: the caller was told that a link is on its way. A reset
   * or another link asked for counts all the same, because its reply would tell whether there was a mail to refuse.
   */
  async function handBackRefused(email: string, isAccepted: boolean): Promise<void> {
    if (!isAccepted) await limits.forgive('recoveryPerAddress', `register ${email}`, 1)
  }

  async function tellOwner(email: string): Promise<void> {
    if (!(await mayMail(email))) return
    await handBackRefused(email, await mail.accountExists({ email, name: '', languages: [] }))
  }

  return {
    lifeMs,

    registered(email, languages, source) {
      background.run('mailing about a registration', async () => {
        const [owner] = await deps.collections.users.find({ email }, { limit: 1 })
        if (owner !== undefined) deps.emit('account.registrationRepeated', source, {})
        if (!(await mayMail(email))) return
        // Also where it is mailed to no one: a taken address costs what a free one does.
        const link = await issue(email)
        const isAccepted = await (owner === undefined
          ? mail.confirmRegistration({ email, languages }, link)
          : mail.accountExists({ email, name: '', languages }))
        await handBackRefused(email, isAccepted)
      })
    },

    again(email, languages) {
      background.run('mailing a new link', async () => {
        await mail.confirmRegistration({ email, languages }, await issue(email))
      })
    },

    taken(email) {
      background.run('mailing about a taken address', () => tellOwner(email))
    },
  }
}
