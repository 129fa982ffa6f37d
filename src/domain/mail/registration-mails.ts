import { uuidv7 } from '../../crypto/secrets.js'
import { registrationLifeMs } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import { issueMailedTicket } from '../intents/login-intents.js'
import { keepRegistration, type Registered } from '../intents/pending-registrations.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { mailAccountExists, mailConfirmRegistration } from './mail-service.js'

// Mails about registrations, all beside the request: what differs for a taken address shows in no reply
// and no delay. A link proves the address and not one registration: each live link serves every live
// registration of its address, so that a stranger cannot use up an owner's mails and leave them without one.
// `languages` are of the caller who asks for the mail, and go with it.

/** An answer to a registration that waits for a mailed link. */
export interface WaitingForLink {
  readonly status: 'verificationRequired'
  /** For the browser or app to keep: with it, a mailed link makes an account of this registration. */
  readonly registrationKey: string
  /** Whole seconds. */
  readonly expiresIn: number
}

/** Keeps a registration and mails about it. No account is read before the answer. */
export async function keepForLink(
  ctx: SurfaceContext,
  registered: Registered,
  {
    registrationKey: shown,
    languages,
  }: { readonly registrationKey: string | null; readonly languages: readonly string[] },
  source: RequestSource,
): Promise<WaitingForLink> {
  const lifeMs = await registrationLifetime(ctx)
  const kept = await keepRegistration(ctx, registered, shown, lifeMs)
  ctx.emit('account.registrationRequested', source, { userId: kept.registration.id })
  mailRegistered(ctx, registered.email, languages, source)
  const { registrationKey } = kept
  return { status: 'verificationRequired', registrationKey, expiresIn: lifeMs / 1000 }
}

/** How long registrations live now, and links that confirm an address, in milliseconds. */
export async function registrationLifetime(ctx: SurfaceContext): Promise<number> {
  const { emailVerificationTTL } = await ctx.settings()
  return registrationLifeMs(emailVerificationTTL, ctx.limits.windowOf('recoveryPerAddress'))
}

async function issue(ctx: SurfaceContext, email: string) {
  const id = uuidv7(ctx.clock.now(), ctx.random)
  const user = { id, sessionEpoch: 0, credentialEpoch: 0, deviceEpoch: 0 }
  const lifeMs = await registrationLifetime(ctx)
  return issueMailedTicket(ctx, 'register', { user, boundTo: email, payload: {}, lifeMs })
}

async function mayMail(ctx: SurfaceContext, email: string): Promise<boolean> {
  try {
    await ctx.limits.check('recoveryPerAddress', `register ${email}`)
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
async function handBackRefused(
  ctx: SurfaceContext,
  email: string,
  isAccepted: boolean,
): Promise<void> {
  if (!isAccepted) await ctx.limits.forgive('recoveryPerAddress', `register ${email}`, 1)
}

async function tellOwner(ctx: SurfaceContext, email: string): Promise<void> {
  if (!(await mayMail(ctx, email))) return
  await handBackRefused(
    ctx,
    email,
    await mailAccountExists(ctx, { email, name: '', languages: [] }),
  )
}

/** About a registration: a link, or that the address has an account. Three an hour for an address. */
function mailRegistered(
  ctx: SurfaceContext,
  email: string,
  languages: readonly string[],
  source: RequestSource,
): void {
  ctx.background.run('mailing about a registration', async () => {
    const [owner] = await ctx.collections.users.find({ email }, { limit: 1 })
    if (owner !== undefined) ctx.emit('account.registrationRepeated', source, {})
    if (!(await mayMail(ctx, email))) return
    // Also where it is mailed to no one: a taken address costs what a free one does.
    const link = await issue(ctx, email)
    const isAccepted = await (owner === undefined
      ? mailConfirmRegistration(ctx, { email, languages }, link)
      : mailAccountExists(ctx, { email, name: '', languages }))
    await handBackRefused(ctx, email, isAccepted)
  })
}

/** A link once more. The caller counts it, and knows that the address has no account. */
export function mailRegisteredAgain(
  ctx: SurfaceContext,
  email: string,
  languages: readonly string[],
): void {
  ctx.background.run('mailing a new link', async () => {
    await mailConfirmRegistration(ctx, { email, languages }, await issue(ctx, email))
  })
}

/** Tells the owner of an address that it has an account; counted as `registered`. */
export function mailAddressTaken(ctx: SurfaceContext, email: string): void {
  ctx.background.run('mailing about a taken address', () => tellOwner(ctx, email))
}
