import { isUuid } from '../../crypto/secrets.js'
import { entryRefusal, entryRules } from '../../engine/accounts.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { resetLinkMs } from '../../engine/duration.js'
import { AuthError } from '../../errors/index.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { Act } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import type { IssuedTicket, MailedIntents } from '../intents/mailed-intents.js'
import type { OpenedIntent, SpentIntent } from '../intents/spent-intent.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { MailedLink, MailService } from '../mail/mail-service.js'
import type { Sessions } from '../sessions/sessions.js'
import type { OwnerProof } from './owner-proof.js'
import type { PasswordCheck } from './password-check.js'
import type { PasswordWriter } from './password-writer.js'

export interface PasswordRecovery {
  /** Mails a reset link when there is an account; the caller learns nothing. `languages` go with the mail. */
  forgot(email: string, languages: readonly string[], source: RequestSource): Promise<void>
  /**
   * The same for an administrator, who learns whether there is such a person: throws
   * `user_not_found`. A disabled user gets no mail.
   */
  sendTo(userId: string, act: Act): Promise<void>
  /**
   * A reset link that the host hands over itself, in the place of any earlier one. Null where no enabled
   * person has the id. Throws `password_login_disabled`, and `email_not_verified`: a link that no mail carried must not
   * prove a mailbox.
   */
  linkFor(userId: string, act: Act): Promise<MailedLink | null>
  /**
   * Hands back the mails of a user whose password was changed by a caller who knew it. The change voided the links
   * of those mails: a thief who changes it again and again must not leave the owner without one. Never
   * throws.
   */
  allowAgain(user: Mailbox): Promise<void>
  /**
   * Sets a new password with a mailed or login-given token and ends every session. Opens no
   * session. Throws `password_login_disabled`, `invalid_token`, `token_expired` or `password_policy`;
   * only `invalid_token` may have spent something.
   */
  reset(token: string, newPassword: string, source: RequestSource): Promise<void>
}

interface Deps
  extends Pick<SurfaceContext, 'surface' | 'collections' | 'settings' | 'background' | 'emit'> {
  readonly limits: RateLimiter
  readonly mail: MailService
}

type Mailbox = Pick<User, 'email' | 'emailVerifiedAt'>
type PasswordPurpose = 'resetPassword' | 'expiredPassword'
type PasswordIntent = SpentIntent<PasswordPurpose>

interface Services {
  readonly judge: IntentJudge
  readonly sessions: Sessions
  readonly mailedIntents: MailedIntents
  readonly ownerProof: OwnerProof
  readonly passwordCheck: PasswordCheck
  readonly passwordWriter: PasswordWriter
}

export function createPasswordRecovery(deps: Deps, services: Services): PasswordRecovery {
  const { judge, sessions, mailedIntents, ownerProof, passwordCheck } = services
  const { users } = deps.collections

  async function requireOpen(): Promise<void> {
    const rules = entryRules(deps.surface, await deps.settings())
    const refusal = entryRefusal('recovery', rules)
    if (refusal !== null) throw new AuthError(refusal)
  }

  function issue(user: User): Promise<IssuedTicket> {
    const terms = { ttlMs: resetLinkMs, mailedTo: user.email, sessionId: null }
    return mailedIntents.issue(user, { purpose: 'resetPassword', ...terms })
  }

  async function sendLink(user: User, languages: readonly string[]): Promise<void> {
    deps.mail.resetPassword(user, await issue(user), languages)
  }

  /** A link that came by mail to this very address proves the mailbox, where no other did so before. */
  function replace(intent: PasswordIntent, newPassword: string, source: RequestSource) {
    const { user } = intent
    if (isMailed(intent) && user.emailVerifiedAt === null) {
      return ownerProof.prove(user, { by: intent, newPassword, source })
    }
    const change = { by: intent, endsSessions: true, keepSessionId: null, source }
    return services.passwordWriter.write(user, newPassword, change)
  }

  /**
   * The account with the new password. Where an earlier request wrote it, the same request again
   * completes that one; another password is not taken in its place.
   */
  async function written(
    opened: OpenedIntent<PasswordPurpose>,
    newPassword: string,
    source: RequestSource,
  ): Promise<User | null> {
    const first = mailedIntents.spend(opened)
    const replaced = first.isWritten ? null : await replace(first, newPassword, source)
    if (replaced !== null) return replaced
    // An earlier request with this link may have stopped waiting for its write, which won over ours.
    const intent = first.isWritten ? first : mailedIntents.spend(await judge.again(opened))
    if (!intent.isWritten) return null
    return (await passwordCheck.ofLink(intent.payload, intent.user, newPassword))
      ? intent.user
      : null
  }

  async function allowAgain({ email, emailVerifiedAt }: Mailbox): Promise<void> {
    // Where the mailbox is not proved, a change voids no link: see the password writer.
    if (emailVerifiedAt === null) return
    const asked = [`reset ${email}`, `reset for ${email}`]
    await Promise.all(asked.map((subject) => deps.limits.forgive('recoveryPerAddress', subject)))
  }

  return {
    async forgot(typed, languages, source) {
      await requireOpen()
      const email = canonicalEmail(typed)
      if (email === null) throw new AuthError('invalid_request')
      // A budget of its own: all it can be spent on is mails with a link that helps the owner.
      await deps.limits.check('recoveryPerAddress', `reset ${email}`)
      const [user] = await users.find({ email }, { limit: 1 })
      const owner = user?.enabled && isHuman(user) ? user : null
      if (owner !== null) {
        deps.background.run('issuing a reset link', () => sendLink(owner, languages))
      }
      const facts = { actorId: null, userId: owner?.id ?? null }
      deps.emit('password.resetRequested', source, facts)
    },

    async sendTo(userId, act) {
      await requireOpen()
      const user = isUuid(userId) ? await users.get(userId) : null
      if (user === null || !isHuman(user)) throw new AuthError('user_not_found')
      await deps.limits.check('recoveryPerAddress', `reset for ${user.email}`)
      if (user.enabled) deps.background.run('issuing a reset link', () => sendLink(user, []))
      const facts = { actorId: act.actorId, userId: user.enabled ? user.id : null }
      deps.emit('password.resetRequested', act.source, facts)
    },

    async linkFor(userId, act) {
      await requireOpen()
      const user = isUuid(userId) ? await users.get(userId) : null
      if (user === null || !isHuman(user) || !user.enabled) return null
      if (user.emailVerifiedAt === null) throw new AuthError('email_not_verified')
      const link = deps.mail.passwordLink(await issue(user))
      deps.emit('password.resetRequested', act.source, { actorId: act.actorId, userId })
      return link
    },

    allowAgain,

    async reset(token, newPassword, source) {
      const opened = await mailedIntents.open(token, ['resetPassword', 'expiredPassword'])
      const intent = mailedIntents.spend(opened)
      const user = await written(opened, newPassword, source)
      if (user === null) throw new AuthError('invalid_token')
      if (!isMailed(intent)) await allowAgain(user)
      await sessions.endAll(user.id, 'password_change', source)
      // Before the link is taken: afterwards, the same request sent again is refused.
      await passwordCheck.clear(user.email)
      await mailedIntents.take(intent)
    },
  }
}

function isMailed(intent: PasswordIntent): intent is SpentIntent<'resetPassword'> {
  return intent.kind === 'resetPassword'
}
