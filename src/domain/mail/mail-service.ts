import { isUndeliverable } from '../../engine/addresses.js'
import type { BudgetName } from '../../engine/guess-budgets.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { Mail } from '../../ports/host.js'
import type { RequestSource, Surface } from '../../ports/surface.js'
import type { IssuedTicket } from '../intents/login-intents.js'
import type { SurfaceContext } from '../surface/surface-context.js'

// Mail goes out beside the request: its outcome changes neither the reply nor its timing.

/** Too many wrong codes of a kind, shown by a caller who has the password or a session. */
export interface FactorLockout {
  readonly at: number
  readonly method: 'totp' | 'backupCode'
  readonly until: number
  readonly budget: BudgetName
}

/** What was guessed at. */
type Suspicion = 'password' | 'secondFactor'

/** The languages of the caller who asked for a mail, as ranges, the most wanted first. Empty where no caller did. */
type Languages = readonly string[]

/** An address that a caller asked to have a mail sent to. */
interface Asked {
  readonly email: string
  readonly languages: Languages
}

/** What a mail with a link carries. */
export interface MailedLink extends IssuedTicket {
  /** The host's page, with the token in its fragment. */
  readonly url: string
}

/** Resolves once the mailer has answered: false if it refused. */
async function deliver(ctx: SurfaceContext, mail: Mail, userId: string | null): Promise<boolean> {
  if (isUndeliverable(mail.to)) {
    ctx.logger.info('no mail is sent to an undeliverable address', { template: mail.template })
    return true
  }
  return new Promise((resolve) => {
    ctx.background.run(`mail ${mail.template}`, async () => {
      try {
        await ctx.mailer.send(mail)
        resolve(true)
      } catch (error) {
        ctx.emit('mail.failed', null, { template: mail.template, userId })
        throw error
      } finally {
        resolve(false)
      }
    })
  })
}

/** The same link, for the host to hand over. */
export function passwordLinkOf(
  ctx: SurfaceContext,
  { token, expiresAt }: IssuedTicket,
): MailedLink {
  return {
    ...{ url: withToken(ctx.links.resetPassword, token), token, expiresAt },
  }
}

function to(ctx: SurfaceContext, user: User): { surface: Surface; to: string; name: string } {
  return {
    surface: ctx.surface,
    to: user.email,
    // The address is unconfirmed, so no text that a stranger typed is mailed to it.
    name: user.emailVerifiedAt === null ? '' : user.name,
  }
}

/** No name either, as to any unconfirmed address. */
function toUnconfirmed(ctx: SurfaceContext, { email, languages }: Asked) {
  return {
    ...{ surface: ctx.surface, to: email, name: '' },
    ...asking(languages),
  }
}

function confirming<T extends 'verifyEmail' | 'changeEmail'>(
  ctx: SurfaceContext,
  template: T,
  { token, expiresAt }: IssuedTicket,
) {
  return { template, data: { url: withToken(ctx.links.verifyEmail, token), token, expiresAt } }
}

/** What one kind of mail says. */
type Content<M = Mail> = M extends Mail ? Pick<M, 'template' | 'data'> : never

/** To the address of `user`, as they were read. Resolves once the mailer has answered: false if it refused. */
export function mailOwner(
  ctx: SurfaceContext,
  user: User,
  content: Content,
  languages: Languages = [],
): Promise<boolean> {
  return deliver(ctx, { ...to(ctx, user), ...asking(languages), ...content }, user.id)
}

export function mailVerifyEmail(
  ctx: SurfaceContext,
  user: User,
  ticket: IssuedTicket,
  languages: Languages,
): void {
  void mailOwner(ctx, user, confirming(ctx, 'verifyEmail', ticket), languages)
}

/** The same to an address without an account. Resolves as `accountExists` does. */
export function mailConfirmRegistration(
  ctx: SurfaceContext,
  asked: Asked,
  ticket: IssuedTicket,
): Promise<boolean> {
  return deliver(
    ctx,
    { ...toUnconfirmed(ctx, asked), ...confirming(ctx, 'verifyEmail', ticket) },
    null,
  )
}

/** To the new address. */
export function mailChangeEmail(
  ctx: SurfaceContext,
  user: User,
  asked: Asked,
  ticket: IssuedTicket,
): void {
  const mail = { ...toUnconfirmed(ctx, asked), ...confirming(ctx, 'changeEmail', ticket) }
  void deliver(ctx, mail, user.id)
}

/** Resolves once the mailer has answered: false if it refused. */
export function mailAccountExists(
  ctx: SurfaceContext,
  { name, ...asked }: Asked & { readonly name: string },
): Promise<boolean> {
  const data = { url: ctx.links.login }
  return deliver(ctx, { ...toUnconfirmed(ctx, asked), name, template: 'accountExists', data }, null)
}

export function mailResetPassword(
  ctx: SurfaceContext,
  user: User,
  ticket: IssuedTicket,
  languages: Languages,
): void {
  const data = passwordLinkOf(ctx, ticket)
  void mailOwner(ctx, user, { template: 'resetPassword', data }, languages)
}

export function mailPasswordChanged(ctx: SurfaceContext, user: User, at: number): void {
  void mailOwner(ctx, user, { template: 'passwordChanged', data: { at } })
}

export function mailIdentityChanged(
  ctx: SurfaceContext,
  user: User,
  data: {
    readonly at: number
    readonly provider: string
    readonly change: 'linked' | 'unlinked'
  },
): void {
  void mailOwner(ctx, user, { template: 'identityChanged', data })
}

export function mailNewDevice(
  ctx: SurfaceContext,
  user: User,
  { at, ip, userAgent }: RequestSource & { readonly at: number },
): void {
  void mailOwner(ctx, user, { template: 'newDevice', data: { at, ip, userAgent } })
}

const asking = (languages: Languages): Pick<Mail, 'languages'> =>
  languages.length === 0 ? {} : { languages }

/** In the fragment, which browsers send to no server and in no Referer. */
function withToken(page: string, token: string): string {
  return `${page}#token=${token}`
}

interface Guesses extends RequestSource {
  readonly at: number
  readonly reason: Suspicion | 'knownPassword'
}

const oncePerDay = { limit: 1, windowMs: 24 * 60 * 60 * 1000 }

/**
 * Mails the owner of an account about guesses at it: wrong passwords before a right one, and wrong second factors after
 * it. Beside the request, unless `notifySecurityChanges` is off. One mail of each kind a day: guesses cost little, and
 * must fill no mailbox. `knownPassword` is a login from a known place, mostly of an owner with typing errors. It is
 * counted by itself, so that it uses up no mail about a stranger.
 */
export function tellOwnerOfGuesses(
  ctx: SurfaceContext,
  userId: string,
  reason: Guesses['reason'],
  source: RequestSource,
): void {
  const guesses = { at: ctx.clock.now(), reason, ...source }
  ctx.background.run('telling the owner of guesses', () => mailGuesses(ctx, userId, guesses))
}

async function mailGuesses(ctx: SurfaceContext, userId: string, guesses: Guesses): Promise<void> {
  if (!(await ctx.settings()).notifySecurityChanges) return
  // Read first: a day's mail is not used up by a store that fails.
  const user = await ctx.collections.users.get(userId)
  if (user === null || !(await isFirstToday(ctx, userId, guesses.reason))) return
  const { at, ip, userAgent } = guesses
  const reason = guesses.reason === 'knownPassword' ? 'password' : guesses.reason
  void mailOwner(ctx, user, { template: 'loginSuspicious', data: { at, reason, ip, userAgent } })
}

async function isFirstToday(
  { limits }: SurfaceContext,
  userId: string,
  reason: Guesses['reason'],
): Promise<boolean> {
  try {
    await limits.checkWith('suspicionMails', `${reason} ${userId}`, oncePerDay)
    return true
  } catch (error) {
    if (error instanceof AuthError && error.code === 'rate_limited') return false
    throw error
  }
}
