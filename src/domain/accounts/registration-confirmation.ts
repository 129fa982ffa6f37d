import {
  beginning,
  type EntryFacts,
  type EntryRules,
  entryRefusal,
  entryRules,
} from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import { newUser, type PendingRegistration, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { takeBackUsed } from '../context/take-back-used.js'
import type { MailedIntents } from '../intents/mailed-intents.js'
import type { PendingRegistrations } from '../intents/pending-registrations.js'
import type { OpenedIntent, SpentIntent } from '../intents/spent-intent.js'
import { linkLine } from '../passwords/hash-lines.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import type { PasswordHashes } from '../passwords/password-hashes.js'
import type { PasswordRules } from '../passwords/password-rules.js'
import type { RegistrationMails } from './registration-mails.js'

/** What comes with a mailed link. */
export interface ShownBeginning {
  readonly newPassword?: string | undefined
  readonly name?: string | undefined
  readonly acceptedTermsVersion?: string | undefined
  /** What the browser or app keeps of its registrations; null without. */
  readonly registrationKey: string | null
}

/** Makes an account of a proved address. */
export interface RegistrationConfirmation {
  /**
   * With what was registered in the same browser or app, else with `newPassword`; today's settings
   * decide whether it may be made. Repeat it after a rejection: the account is made once. A repetition
   * needs the same password, or none. Throws `password_choice_required`, which spends nothing,
   * `registration_disabled` and the like, `password_policy`, `invalid_token` when the address has an
   * account by now, and `rate_limited`.
   */
  confirm(
    opened: OpenedIntent<'register', null>,
    shown: ShownBeginning,
    source: RequestSource,
  ): Promise<void>
}

interface Deps
  extends Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'settings' | 'emit'> {
  readonly passwords: PasswordHashes
  readonly passwordRules: PasswordRules
}

interface Services {
  readonly mails: RegistrationMails
  readonly passwordCheck: PasswordCheck
  readonly pendingRegistrations: PendingRegistrations
  readonly mailedIntents: MailedIntents
}

interface Attempt {
  readonly registered: PendingRegistration | null
  readonly shown: ShownBeginning
  readonly source: RequestSource
}

/** A link to an address without an account, which is judged by its own conditions. */
type Link = SpentIntent<'register', null>

export function createRegistrationConfirmation(
  deps: Deps,
  { mails, mailedIntents, passwordCheck, pendingRegistrations }: Services,
): RegistrationConfirmation {
  const { clock } = deps
  const { users } = deps.collections

  function admit(rules: EntryRules, comer?: EntryFacts): void {
    const refusal = entryRefusal('register', rules, comer)
    if (refusal !== null) throw new AuthError(refusal)
  }

  async function passwordOf(
    { id, payload: { email } }: Link,
    registered: PendingRegistration | null,
    { newPassword, name }: ShownBeginning,
  ) {
    if (newPassword === undefined && registered !== null) {
      return { passwordHash: registered.passwordHash, passwordChangedAt: registered.createdAt }
    }
    const password = newPassword ?? ''
    const line = linkLine(deps.surface, id)
    const called = name ?? registered?.name ?? ''
    await deps.passwordRules.check(password, { email, name: called, line })
    const passwordHash = await deps.passwords.hash(password, line)
    return { passwordHash, passwordChangedAt: clock.now() }
  }

  async function accountOf(
    link: Link,
    registered: PendingRegistration | null,
    shown: ShownBeginning,
    terms: string,
  ): Promise<User> {
    const { email, userId } = link.payload
    const password = await passwordOf(link, registered, shown)
    const now = clock.now()
    return newUser(now, {
      id: registered?.id ?? userId,
      email,
      emailAsTyped: registered?.emailAsTyped ?? email,
      emailVerifiedAt: now,
      name: shown.name ?? registered?.name ?? '',
      selfRegistered: true,
      ...password,
      termsVersion: terms === '' ? null : terms,
      lastIntentId: link.id,
    })
  }

  /** The account that this link made in an earlier attempt, which was cut off before the link was taken. */
  async function madeByLink({ id, payload: { email } }: Link): Promise<User | null> {
    const [owner] = await users.find({ email }, { limit: 1 })
    return owner?.lastIntentId === id ? owner : null
  }

  async function insert(user: User): Promise<boolean> {
    try {
      return await users.insert(user)
    } catch (error) {
      const found = await users.get(user.id)
      // The answer was lost, and the write may have taken effect. Another request with this link has another hash.
      const isOurs = found?.passwordHash === user.passwordHash
      if (isOurs && found.lastIntentId === user.lastIntentId) return true
      throw error
    }
  }

  async function make(user: User, source: RequestSource): Promise<boolean> {
    if (!(await insert(user))) return false
    // Ids are never used again: a deletion that came between leaves its note for longer.
    if (await takeBackUsed(deps.collections, user.id)) throw new AuthError('invalid_token')
    const facts = { at: user.createdAt, userId: user.id }
    deps.emit('account.registered', source, facts)
    deps.emit('email.verified', source, facts)
    return true
  }

  /** Makes the account if the settings of today allow it; null where this is done, else the one that is there. */
  async function begin(link: Link, { registered, shown, source }: Attempt): Promise<User | null> {
    const { email } = link.payload
    const rules = entryRules(deps.surface, await deps.settings())
    admit(rules)
    if (beginning(registered !== null, shown.newPassword !== undefined) === 'ask') {
      throw new AuthError('password_choice_required')
    }
    const acceptedTerms = shown.acceptedTermsVersion ?? registered?.termsVersion ?? ''
    admit(rules, { applicant: { email, acceptedTerms } })
    const user = await accountOf(link, registered, shown, acceptedTerms)
    if (await make(user, source)) return null
    // The account that any link of this registration made, even if its address changed since; or that this link made.
    const made = (await users.get(user.id)) ?? (await madeByLink(link))
    if (made !== null) return made
    mails.taken(email)
    await mailedIntents.take(link)
    throw new AuthError('invalid_token')
  }

  /** Another password is not taken in the place of the one that was chosen, nor answered as if it were. */
  async function requireChosen(made: User, link: Link, { shown, registered }: Attempt) {
    const { newPassword } = shown
    const isSame =
      newPassword === undefined
        ? registered === null || registered.id === made.id
        : await passwordCheck.ofLink(link.payload, made, newPassword)
    if (!isSame) throw new AuthError('invalid_token')
  }

  async function finish(link: Link, registered: PendingRegistration | null): Promise<void> {
    await passwordCheck.clear(link.payload.email)
    if (registered !== null) await pendingRegistrations.take(registered)
    // Last: until here the same link makes no second account and completes what is there.
    await mailedIntents.take(link)
  }

  return {
    async confirm(opened, shown, source) {
      const link = mailedIntents.spend(opened)
      const { email } = link.payload
      const registered = await pendingRegistrations.boundTo(shown.registrationKey, email)
      const attempt = { registered, shown, source }
      // What an earlier attempt made is completed, though registration was closed since.
      const made = (await madeByLink(link)) ?? (await begin(link, attempt))
      if (made !== null) await requireChosen(made, link, attempt)
      await finish(link, registered)
    },
  }
}
