import { ownerProvedWrite } from '../../engine/accounts.js'
import type { User } from '../../model/user.js'
import type { OwnerProofWay } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { keepEnrolledFactor } from '../context/enrolled-factors.js'
import type { SpentIntent } from '../intents/intent-judge.js'
import type { SignInIntent } from '../intents/oauth-flows.js'
import { mailPasswordChanged } from '../mail/mail-service.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { networkLine } from './password-check.js'
import { checkNewPassword, rememberPassword } from './password-writer.js'

// Gives an account to the owner of its mailbox, which is not proved yet. A stranger may have made the account:
// nothing of theirs opens it any more, and no mail shows their text.

export interface OwnerFacts {
  readonly name?: string | undefined
  /** The terms that the owner accepts. Null and an empty text are none. */
  readonly termsVersion?: string | null
}

/** How the mailbox was proved, and what becomes of the password. */
export interface Proof {
  /** The link that was mailed to the address, or the flow to a provider that is authoritative for it. */
  readonly by: SpentIntent<'verifyEmail' | 'resetPassword'> | SignInIntent
  /** Null clears the password that is there. */
  readonly newPassword: string | null
  /** What the owner says with the proof, or the provider of them. Default: nothing. */
  readonly owner?: OwnerFacts
  readonly source: RequestSource
}

/** A proof, and the hash of its password. */
interface Written extends Proof {
  readonly passwordHash: string | null
}

function wayOf({ kind }: Proof['by']): OwnerProofWay {
  if (kind === 'verifyEmail') return 'link'
  return kind === 'resetPassword' ? 'reset' : 'provider'
}

/** Sessions ended beside us, or a factor removed, move the record. */
const attempts = 5

async function hashOf(ctx: SurfaceContext, user: User, { newPassword, owner = {}, source }: Proof) {
  if (newPassword === null) return null
  const { id, email, passwordHash } = user
  // A name that a stranger typed must not decide about the owner's password.
  const name = user.selfRegistered ? (owner.name ?? '') : user.name
  const line = networkLine(ctx.surface, source)
  const existing = { userId: id, passwordHash }
  await checkNewPassword(ctx, newPassword, { email, name, existing, line })
  return ctx.passwords.hash(newPassword, line)
}

/** Whether the record is what the write makes of it: the salt is ours, or without a password the intent. */
function isWritten(found: User | null, seen: User, { passwordHash, by }: Written): found is User {
  return (
    found !== null &&
    found.emailVerifiedAt !== null &&
    found.passwordHash === passwordHash &&
    (passwordHash !== null || found.lastIntentId === by.id) &&
    found.credentialEpoch === seen.credentialEpoch + 1
  )
}

async function write(ctx: SurfaceContext, user: User, proof: Written): Promise<User | null> {
  const { passwordHash, by, owner: { name = '', termsVersion = null } = {} } = proof
  const given = { passwordHash, name, termsVersion, lastIntentId: by.id }
  const { guard, set } = ownerProvedWrite(user, given, ctx.clock.now())
  try {
    return await ctx.collections.users.update(user.id, guard, set)
  } catch (error) {
    const found = await ctx.collections.users.get(user.id)
    if (isWritten(found, user, proof)) return found
    throw error
  }
}

function announce(
  ctx: SurfaceContext,
  before: User,
  after: User,
  { by, source }: Proof,
  mails: boolean,
): void {
  const at = ctx.clock.now()
  const userId = after.id
  ctx.emit('email.verified', source, { at, userId })
  ctx.emit('account.ownerProved', source, { at, userId, by: wayOf(by) })
  if (after.passwordHash === null) return
  ctx.emit('password.changed', source, { at, userId, by: 'reset' })
  if (mails && before.passwordHash !== null) mailPasswordChanged(ctx, after, at)
}

/**
 * One guarded write, after which no earlier session can be refreshed; the caller ends them
 * afterwards, and does so again where an earlier attempt was cut short. Checks the password policy
 * first. Null when the account was proved or its credentials were changed meanwhile: then nothing
 * was written.
 */
export async function proveOwner(
  ctx: SurfaceContext,
  seen: User,
  proof: Proof,
): Promise<User | null> {
  // Before anything is written: what was proved must not be answered by a failure.
  const { notifySecurityChanges, registrationTermsVersion } = await ctx.settings()
  const owner = accepting(proof.owner ?? {}, registrationTermsVersion)
  const written = { ...proof, owner, passwordHash: await hashOf(ctx, seen, proof) }
  let user: User | null = seen
  const attempt = async () => {
    if (user === null || user.emailVerifiedAt !== null) return null
    if (user.credentialEpoch !== seen.credentialEpoch) return null
    const before: User = user
    if (before.passwordHash !== null) {
      await rememberPassword(ctx, before.id, before.passwordHash)
    }
    await keepEnrolledFactor(ctx.collections, before)
    const found: User | null =
      (await write(ctx, before, written)) ?? (await ctx.collections.users.get(seen.id))
    // A guard that missed may have been met by the very write whose answer was lost.
    if (isWritten(found, seen, written)) {
      announce(ctx, before, found, proof, notifySecurityChanges)
      return found
    }
    user = found
    return conflict
  }
  return retryOnConflict<User | null>(attempts, attempt, () => null)
}

/** Only the terms that are asked for count as accepted. Where none are asked for, any that the owner names count. */
function accepting({ name, termsVersion = null }: OwnerFacts, required: string): OwnerFacts {
  const isAsked = required === '' ? termsVersion !== '' : termsVersion === required
  return { name, termsVersion: isAsked ? termsVersion : null }
}
