import type { BackgroundTasks } from '../../concurrency/background-tasks.js'
import { isUndeliverable } from '../../engine/addresses.js'
import type { User } from '../../model/user.js'
import type { Emit, MfaChange } from '../../ports/events.js'
import type { Logger, Mail, Mailer } from '../../ports/host.js'
import type { RequestSource, Surface } from '../../ports/surface.js'
import type { IssuedTicket } from '../intents/mailed-intents.js'

/** Where the host's own pages are; the library only mails links to them. */
export interface Links {
  readonly verifyEmail: string
  readonly resetPassword: string
  readonly login: string
}

/** Too many wrong codes of a kind, shown by a caller who has the password or a session. */
export interface FactorLockout {
  readonly at: number
  readonly method: 'totp' | 'backupCode'
  readonly until: number
}

/** What was guessed at. */
export type Suspicion = 'password' | 'secondFactor'

/** The languages of the caller who asked for a mail, as ranges, the most wanted first. Empty where no caller did. */
type Languages = readonly string[]

/** An address that a caller asked to have a mail sent to. */
interface Asked {
  readonly email: string
  readonly languages: Languages
}

/** Mail goes out beside the request: its outcome changes neither the reply nor its timing. */
export interface MailService {
  verifyEmail(user: User, ticket: IssuedTicket, languages: Languages): void
  /** The same to an address without an account. Resolves as `accountExists` does. */
  confirmRegistration(to: Asked, ticket: IssuedTicket): Promise<boolean>
  /** To the new address. */
  changeEmail(user: User, to: Asked, ticket: IssuedTicket): void
  emailChangeRequested(user: User, at: number): void
  /** To the address of `before`. */
  emailChanged(before: User, what: { readonly at: number; readonly newEmail: string }): void
  accountDeleted(user: User, at: number): void
  /** Resolves once the mailer has answered: false if it refused. */
  accountExists(to: Asked & { readonly name: string }): Promise<boolean>
  resetPassword(user: User, ticket: IssuedTicket, languages: Languages): void
  /** The same link, for the host to hand over. */
  passwordLink(ticket: IssuedTicket): MailedLink
  passwordChanged(user: User, at: number): void
  /** Resolves once the mailer has answered, whatever it said. */
  mfaChanged(user: User, what: { readonly at: number; readonly change: MfaChange }): Promise<void>
  secondFactorLockedOut(user: User, what: FactorLockout): void
  identityChanged(
    user: User,
    what: {
      readonly at: number
      readonly provider: string
      readonly change: 'linked' | 'unlinked'
    },
  ): void
  newDevice(user: User, login: RequestSource & { readonly at: number }): void
  loginSuspicious(
    user: User,
    what: RequestSource & { readonly at: number; readonly reason: Suspicion },
  ): void
  deviceTrusted(user: User, request: RequestSource & { readonly at: number }): void
}

/** What a mail with a link carries. */
export interface MailedLink extends IssuedTicket {
  /** The host's page, with the token in its fragment. */
  readonly url: string
}

interface Deps {
  readonly surface: Surface
  readonly mailer: Mailer
  readonly links: Links
  readonly background: BackgroundTasks
  readonly emit: Emit
  readonly logger: Logger
}

export function createMailService(deps: Deps): MailService {
  const { surface, links } = deps

  /** Resolves once the mailer has answered: false if it refused. */
  async function deliver(mail: Mail, userId: string | null): Promise<boolean> {
    if (isUndeliverable(mail.to)) {
      deps.logger.info('no mail is sent to an undeliverable address', { template: mail.template })
      return true
    }
    return new Promise((resolve) => {
      deps.background.run(`mail ${mail.template}`, async () => {
        try {
          await deps.mailer.send(mail)
          resolve(true)
        } catch (error) {
          deps.emit('mail.failed', null, { template: mail.template, userId })
          throw error
        } finally {
          resolve(false)
        }
      })
    })
  }

  function send(mail: Mail, userId: string | null): void {
    void deliver(mail, userId)
  }

  const passwordLink = ({ token, expiresAt }: IssuedTicket): MailedLink => ({
    ...{ url: withToken(links.resetPassword, token), token, expiresAt },
  })

  const to = (user: User): { surface: Surface; to: string; name: string } => ({
    surface,
    to: user.email,
    // The address is unconfirmed, so no text that a stranger typed is mailed to it.
    name: user.emailVerifiedAt === null ? '' : user.name,
  })

  /** No name either, as to any unconfirmed address. */
  const toUnconfirmed = ({ email, languages }: Asked) => ({
    ...{ surface, to: email, name: '' },
    ...asking(languages),
  })

  const confirming = <T extends 'verifyEmail' | 'changeEmail'>(
    template: T,
    { token, expiresAt }: IssuedTicket,
  ) => ({ template, data: { url: withToken(links.verifyEmail, token), token, expiresAt } })

  return {
    verifyEmail: (user, ticket, languages) =>
      send({ ...to(user), ...asking(languages), ...confirming('verifyEmail', ticket) }, user.id),
    confirmRegistration: (asked, ticket) =>
      deliver({ ...toUnconfirmed(asked), ...confirming('verifyEmail', ticket) }, null),
    changeEmail: (user, asked, ticket) =>
      send({ ...toUnconfirmed(asked), ...confirming('changeEmail', ticket) }, user.id),
    emailChangeRequested: (user, at) =>
      send({ ...to(user), template: 'emailChangeRequested', data: { at } }, user.id),
    emailChanged: (before, data) =>
      send({ ...to(before), template: 'emailChanged', data }, before.id),
    accountDeleted: (user, at) =>
      send({ ...to(user), template: 'accountDeleted', data: { at } }, user.id),
    accountExists: ({ name, ...asked }) => {
      const data = { url: links.login }
      return deliver({ ...toUnconfirmed(asked), name, template: 'accountExists', data }, null)
    },
    resetPassword: (user, ticket, languages) => {
      const data = passwordLink(ticket)
      send({ ...to(user), ...asking(languages), template: 'resetPassword', data }, user.id)
    },
    passwordLink,
    passwordChanged: (user, at) =>
      send({ ...to(user), template: 'passwordChanged', data: { at } }, user.id),
    async mfaChanged(user, data) {
      await deliver({ ...to(user), template: 'mfaChanged', data }, user.id)
    },
    secondFactorLockedOut: (user, data) =>
      send({ ...to(user), template: 'secondFactorLockedOut', data }, user.id),
    identityChanged: (user, data) =>
      send({ ...to(user), template: 'identityChanged', data }, user.id),
    newDevice: (user, { at, ip, userAgent }) =>
      send({ ...to(user), template: 'newDevice', data: { at, ip, userAgent } }, user.id),
    loginSuspicious: (user, { at, reason, ip, userAgent }) =>
      send(
        { ...to(user), template: 'loginSuspicious', data: { at, reason, ip, userAgent } },
        user.id,
      ),
    deviceTrusted: (user, { at, ip, userAgent }) =>
      send({ ...to(user), template: 'deviceTrusted', data: { at, ip, userAgent } }, user.id),
  }
}

const asking = (languages: Languages): Pick<Mail, 'languages'> =>
  languages.length === 0 ? {} : { languages }

/** In the fragment, which browsers send to no server and in no Referer. */
function withToken(page: string, token: string): string {
  return `${page}#token=${token}`
}
