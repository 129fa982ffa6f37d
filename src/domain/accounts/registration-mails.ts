import { uuidv7 } from '../../crypto/secrets.js'
import { registrationLifeMs } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import { issueMailedTicket } from '../intents/mailed-intents.js'
import { mailAccountExists, mailConfirmRegistration } from '../mail/mail-service.js'
import type { SurfaceContext } from '../surface/surface-context.js'

// Mails about registrations, all beside the request: what differs for a taken address shows in no reply
// and no delay. A link proves the address and not one registration: each live link serves every live
// registration of its address, so that a stranger cannot use up an owner's mails and leave them without one.
// `languages` are of the caller who asks for the mail, and go with it.

/** How long registrations live now, and links that confirm an address, in milliseconds. */
export async function registrationLifetime(ctx: SurfaceContext): Promise<number> {
  const { emailVerificationTTL } = await ctx.settings()
  return registrationLifeMs(emailVerificationTTL, ctx.limits.windowOf('recoveryPerAddress'))
}

async function issue(ctx: SurfaceContext, email: string) {
  const id = uuidv7(ctx.clock.now(), ctx.random)
  const toBe = { id, sessionEpoch: 0, credentialEpoch: 0, deviceEpoch: 0 }
  const terms = { ttlMs: await registrationLifetime(ctx), mailedTo: email, sessionId: null }
  return issueMailedTicket(ctx, toBe, { purpose: 'register', ...terms })
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
export function mailRegistered(
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
