import { withTimeout } from '../../concurrency/promises.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { MfaChange } from '../../ports/events.js'
import type { Collection } from '../../ports/store.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { sessionRefusal } from '../intents/intents.js'
import { mailOwner } from '../mail/mail-service.js'
import { endAllSessions } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'

/** Longer than any request that enrols a factor: after it, the process that sweeps goes on with what a request began. */
export const noticeMs = 10 * 60 * 1000

// The steps around every change of a user's second factors.

/** A change of a user's second factors. */
export interface FactorChange {
  readonly change: MfaChange
  readonly source: RequestSource
  /** The person, unless it is given; null means that the host's code named no actor. */
  readonly actorId?: string | null
  /** The session that asked for it; left out where the host's code did, or a login that has none yet. */
  readonly askedIn?: string
  /** Ends all sessions but this one; left out, none. */
  readonly endsAllBut?: Spared
  /** Called once the mailer has the mail, or where none is sent; a failure of it is logged. */
  readonly told?: () => Promise<unknown>
}

/** Less than `noticeMs`, after which the process that sweeps tells the owner. */
const mailerMs = noticeMs / 2

function notify(
  ctx: SurfaceContext,
  user: User,
  at: number,
  { change, told }: Pick<FactorChange, 'change' | 'told'>,
): void {
  // Beside the request: what was changed must not be answered by a failure to read a setting.
  ctx.background.run('mailing about a factor', async () => {
    const { notifySecurityChanges } = await ctx.settings()
    if (notifySecurityChanges)
      await answered(ctx, mailOwner(ctx, user, { template: 'mfaChanged', data: { at, change } }))
    await told?.()
  })
}

/** A mailer that answers too late has the mail all the same: the owner is not to get it again and again. */
async function answered(ctx: SurfaceContext, mailing: Promise<unknown>): Promise<void> {
  await withTimeout(mailing, mailerMs, ctx.clock).catch(() => {})
}

/** To be called once the change stands. Emits `mfa.changed` and mails the person. */
export function factorChanged(
  ctx: SurfaceContext,
  user: User,
  { change, source, actorId = user.id, ...rest }: FactorChange,
): void {
  const at = ctx.clock.now()
  ctx.emit('mfa.changed', source, { at, userId: user.id, actorId, change })
  notify(ctx, user, at, { change, ...rest })
}

async function endOthers(
  ctx: SurfaceContext,
  userId: string,
  { source, endsAllBut }: FactorChange,
): Promise<void> {
  if (endsAllBut === undefined) return
  const { keptSessionId } = endsAllBut
  const spared = keptSessionId === null ? {} : { except: keptSessionId }
  await endAllSessions(ctx, userId, 'factor_change', source, spared)
}

/**
 * Call it before a factor is taken or replaced: a crash in between then leaves nothing that was granted on the factor.
 * Voids earlier proofs and trusted devices, and ends the other sessions where the change says so. May be repeated with
 * the user that it resolved with. Throws what `sessionRefusal` gives where the session that asked has ended, and
 * `step_up_required` where its proof was voided since `user` was read: a thief with that session must not take factors
 * away after the owner has acted. Null when the user is gone.
 */
export async function retireProofs(
  ctx: SurfaceContext,
  { id, deviceEpoch }: Pick<User, 'id' | 'deviceEpoch'>,
  change: FactorChange,
): Promise<User | null> {
  const { askedIn, endsAllBut: kept } = change
  const requireRight = async (now: User) => {
    if (askedIn === undefined) return
    const refusal = await sessionRefusal(ctx, now, askedIn)
    if (refusal !== null) throw refusal
    if (now.deviceEpoch === deviceEpoch) return
    throw stepUpRequired((await ctx.settings()).stepUpMaxAge)
  }
  const raised = await raiseDeviceEpoch(ctx.collections.users, id, { kept, askedIn, requireRight })
  if (raised !== null) await endOthers(ctx, id, change)
  return raised
}

/**
 * Call it once a factor of `enrollFactor` stands. The enrolment has voided earlier proofs and the refreshes of the other
 * sessions. This tells of the change, and ends the other sessions if the change says so.
 */
export async function factorEnrolled(
  ctx: SurfaceContext,
  user: User,
  change: FactorChange,
): Promise<void> {
  factorChanged(ctx, user, change)
  await endOthers(ctx, user.id, change)
}

interface Terms {
  /** The only session that can be refreshed from then on; left out, all can that could before. */
  readonly kept?: Spared | undefined
  /** The session that changes the factors. Default: none. */
  readonly askedIn?: string | undefined
  /** Throws where it may not be done to the user as they are now. Default: it may. */
  readonly requireRight?: (user: User) => Promise<void>
}

/**
 * For a change of factors. Once this resolves, no earlier step-up proof and no earlier trusted device counts. With `kept`, no
 * session but that one can be refreshed either: by the same write, so that no crash leaves the others
 * open. Null when the user is gone.
 */
export function raiseDeviceEpoch(
  users: Collection<User>,
  userId: string,
  { kept, askedIn, requireRight }: Terms = {},
): Promise<User | null> {
  let tried: Pick<User, 'deviceEpoch' | 'sessionEpoch'> | null = null

  /** A driver may carry a write out twice, and tell of the second one alone. */
  function isWritten({ deviceEpoch, sessionEpoch, keptSessionId, keptIntentId }: User): boolean {
    const isNext = deviceEpoch === tried?.deviceEpoch && sessionEpoch === tried.sessionEpoch
    const isKept = keptSessionId === kept?.keptSessionId && keptIntentId === kept.keptIntentId
    return isNext && isKept
  }

  return retryOnConflict(10, async () => {
    const user = await users.get(userId)
    if (user === null) return null
    if (isWritten(user)) return user
    await requireRight?.(user)
    const { deviceEpoch, sessionEpoch, secretsEpoch } = user
    const next = { deviceEpoch: deviceEpoch + 1, sessionEpoch: sessionEpoch + 1 }
    tried = next
    const changed = { secretsEpoch: secretsEpoch + 1, secretsChangedIn: askedIn ?? null }
    const set = kept === undefined ? { deviceEpoch: next.deviceEpoch } : { ...next, ...kept }
    const guard = { deviceEpoch, sessionEpoch }
    return (await users.update(userId, guard, { ...set, ...changed })) ?? conflict
  })
}

/** The session that goes on, or the login that waits for its factor and has none yet. */
export type Spared =
  | { readonly keptSessionId: string; readonly keptIntentId: null }
  | { readonly keptSessionId: null; readonly keptIntentId: string }

export const sparing = (keptSessionId: string): Spared => ({ keptSessionId, keptIntentId: null })

/** What a person says about their other sessions when they change their second factors (ASVS 7.4.3). */
export interface OtherSessions {
  readonly spared: Spared
  /** Left out: the usual of the change. */
  readonly endOtherSessions?: boolean | undefined
}

/** For `FactorChange`: left out where the other sessions go on. */
export function endsAllBut(
  { spared, endOtherSessions }: OtherSessions,
  usual: boolean,
): { readonly endsAllBut?: Spared } {
  return (endOtherSessions ?? usual) ? { endsAllBut: spared } : {}
}

/**
 * Call it before a factor, a passkey, backup codes, an identity or a trusted device is added. Throws
 * `email_not_verified` until the mailbox is proved: a stranger who registered another person's address must
 * leave nothing behind to sign in with, or to lock the owner out.
 */
export function requireProvedMailbox({ emailVerifiedAt }: Pick<User, 'emailVerifiedAt'>): void {
  if (emailVerifiedAt === null) throw new AuthError('email_not_verified')
}

/** The refusal of a caller who has to prove a second factor that is younger than `maxAgeMs`. */
export function stepUpRequired(maxAgeMs: number): AuthError {
  return new AuthError('step_up_required', { maxAgeSeconds: Math.floor(maxAgeMs / 1000) })
}
