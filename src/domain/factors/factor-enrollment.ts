import { workOff } from '../../concurrency/promises.js'
import { enrolledMark, enrollmentStands, isEnrolledMark } from '../../engine/factors.js'
import type { AuthError } from '../../errors/index.js'
import type { EnrollmentNotice, Passkey } from '../../model/factors.js'
import type { User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { enrolledFactors, keepEnrolledFactor } from '../context/enrolled-factors.js'
import { type SpentIntent, sessionRefusal } from '../intents/intents.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { endsAllBut, factorChanged, noticeMs, type OtherSessions } from './factor-changes.js'

// The one way by which a user gets a factor.

type EnrollmentIntent = SpentIntent<'totpEnrollment' | 'passkeyRegistration'>

/** The session or the login in which a factor is enrolled, and what is to become of the other sessions. */
export type EnrollmentPlace = OtherSessions

/** What stores one factor, and takes it away again. */
export interface FactorWrite {
  /** False when another request came between; then nothing is stored. */
  store(notice: EnrollmentNotice): Promise<boolean>
  /** Takes what was stored with this notice, also when the factor was used since, and nothing else. */
  takeBack(notice: EnrollmentNotice): Promise<unknown>
  /** Sets another `enrollmentId`, and nothing else, on a factor that was stored with this notice. */
  mark(notice: EnrollmentNotice, enrollmentId: string): Promise<unknown>
  /** Clears the notice. */
  told(notice: EnrollmentNotice): Promise<unknown>
}

/** A user as the claim of an enrolment left them. */
type ClaimedUser = Pick<User, 'id' | 'deviceEpoch' | 'credentialEpoch'>

/** The user that the enrolment of a factor claimed, by what the factor was stored with. */
function claimedBy(factor: {
  readonly userId: string
  readonly deviceEpoch: number
  readonly credentialEpoch: number
}): ClaimedUser {
  const { userId: id, deviceEpoch, credentialEpoch } = factor
  return { id, deviceEpoch: deviceEpoch + 1, credentialEpoch }
}

export interface EnrolledUser {
  readonly user: User
  /** For `FactorChange`. */
  readonly others: ReturnType<typeof endsAllBut>
  /** For `FactorChange`. */
  readonly told: () => Promise<unknown>
}

/** Sessions ended beside us move the record; factors or credentials changed stop us. */
const attempts = 5

async function refusalIn(
  ctx: SurfaceContext,
  askedIn: string | null,
  user: User,
): Promise<AuthError | null> {
  return askedIn === null ? null : sessionRefusal(ctx, user, askedIn)
}

/**
 * Moves the epoch from the one that the intent began with, or sees that it did so before. What ends all sessions moves it
 * as well, so of the user as they were read here, the session is still open when this is written, or was ended alone.
 */
function claim(
  ctx: SurfaceContext,
  intent: EnrollmentIntent,
  askedIn: string | null,
  ended: EnrolledUser['others']['endsAllBut'],
): Promise<User | null> {
  const { id: lastIntentId, stored, user } = intent
  const { deviceEpoch, credentialEpoch } = stored
  let seen: User = user

  async function attempt() {
    const refusal = await refusalIn(ctx, askedIn, seen)
    if (refusal !== null) throw refusal
    await keepEnrolledFactor(ctx.collections, seen)
    const { sessionEpoch } = seen
    const closing = closingOf(sessionEpoch, ended)
    const guard = { deviceEpoch, credentialEpoch, enabled: true, kind: '', ...closing.guard }
    const own = { lastIntentId, settledEnrollmentId: null }
    const changed = { secretsEpoch: seen.secretsEpoch + 1, secretsChangedIn: askedIn }
    const set = { deviceEpoch: deviceEpoch + 1, ...changed, ...own, ...closing.set }
    const claimed = await ctx.collections.users.update(user.id, guard, set)
    if (claimed !== null) return claimed
    const found = await ctx.collections.users.get(user.id)
    // The write may have been our own: that of an earlier request, or one that a driver carried out twice.
    if (isClaimedBy(intent, found)) return found
    const isMoved = found?.deviceEpoch === deviceEpoch && found.sessionEpoch !== sessionEpoch
    if (!isMoved || ended === undefined) return null
    seen = found
    return conflict
  }
  return retryOnConflict(attempts, attempt, () => null)
}

/**
 * Moves the epoch once more, unless anything else moved it since the claim: another enrolment may have
 * begun after the claim, when the factor was not stored yet. Null where the factor must not stand.
 */
async function settleEnrollment(
  ctx: SurfaceContext,
  { id, deviceEpoch, credentialEpoch }: ClaimedUser,
  settledEnrollmentId: string,
): Promise<User | null> {
  const guard = { deviceEpoch, credentialEpoch, enabled: true }
  const settled = await ctx.collections.users.update(id, guard, {
    deviceEpoch: deviceEpoch + 1,
    settledEnrollmentId,
  })
  if (settled !== null) return settled
  // The write may have been ours, carried out twice by a driver.
  const found = await ctx.collections.users.get(id)
  const isSettled = found?.settledEnrollmentId === settledEnrollmentId
  const isOurs = isSettled && found.deviceEpoch === deviceEpoch + 1
  return isOurs && found.enabled ? found : null
}

/** An earlier request that was cut off may have stored it. */
async function isFirstFactor(
  ctx: SurfaceContext,
  { user, isWritten }: EnrollmentIntent,
): Promise<boolean> {
  const { totp, passkeys } = await enrolledFactors(ctx.collections, user.id)
  return (totp ? 1 : 0) + passkeys <= (isWritten ? 1 : 0)
}

/**
 * Stores a factor, and voids earlier step-up proofs, trusted devices and other enrolments: if two began at once, one
 * is stored. Resolves with the user as written. Null, and no factor is left, where the user's factors, password or
 * standing changed since the intent began. Throws `session_revoked` or `session_max_age_reached`, and no factor is left,
 * where the session that asks has ended. Where the store fails during that last check, the factor stays and its owner
 * is told. A first factor also keeps other sessions from being refreshed, unless `place.endOtherSessions` is false; the
 * caller ends them, and tells the owner. The factor is stored with a notice that its owner was not told: if the request
 * dies, the process that sweeps goes on (`resumeEnrollmentNotices`).
 */
export async function enrollFactor(
  ctx: SurfaceContext,
  intent: EnrollmentIntent,
  factor: FactorWrite,
  place: EnrollmentPlace,
): Promise<EnrolledUser | null> {
  const askedIn = place.spared.keptSessionId
  const isFirst = place.endOtherSessions === undefined && (await isFirstFactor(ctx, intent))
  const others = endsAllBut(place, isFirst)
  const claimed = await claim(ctx, intent, askedIn, others.endsAllBut)
  const notice = { expiresAt: ctx.clock.now() + noticeMs, enrollmentId: intent.id }
  if (claimed === null || !(await factor.store(notice))) return null
  // A call that removes factors moves the epoch first and looks then, so one of the two sees the other.
  const settled = await settleEnrollment(ctx, claimed, intent.id)
  if (settled === null) {
    await takeBack(factor, notice)
    return null
  }
  // The session may have been ended alone meanwhile, and a thief must not keep a factor.
  const refusal = await refusalIn(ctx, askedIn, settled)
  if (refusal !== null) {
    await takeBack(factor, notice)
    throw refusal
  }
  // Later enrolments overwrite what `settleEnrollment` wrote into the user. The factor stands even if this write fails.
  await factor.mark(notice, enrolledMark(intent.id)).catch(() => {})
  return { user: settled, others, told: () => factor.told(notice) }
}

/** Takes the marked factor too: another request may already have marked it as complete. */
async function takeBack(factor: FactorWrite, notice: EnrollmentNotice): Promise<void> {
  const { enrollmentId } = notice
  await factor.takeBack(notice)
  if (enrollmentId === null) return
  await factor.takeBack({ ...notice, enrollmentId: enrolledMark(enrollmentId) })
}

/** What the write of the claim asks and sets besides, to end the other sessions. */
function closingOf(sessionEpoch: number, ended: EnrolledUser['others']['endsAllBut']) {
  if (ended === undefined) return {}
  return { guard: { sessionEpoch }, set: { sessionEpoch: sessionEpoch + 1, ...ended } }
}

function isClaimedBy({ id, stored }: EnrollmentIntent, user: User | null): boolean {
  return (
    user?.lastIntentId === id &&
    user.deviceEpoch === stored.deviceEpoch + 1 &&
    user.credentialEpoch === stored.credentialEpoch &&
    user.enabled
  )
}

// Tells owners of factors whose request died between storing them and telling.

type Noted = Pick<
  Passkey,
  'id' | 'userId' | 'expiresAt' | 'enrollmentId' | 'deviceEpoch' | 'credentialEpoch'
>

/** One kind of factor. */
interface Kind {
  readonly change: 'totpEnrolled' | 'passkeyAdded'
  due(before: number, limit: number): Promise<readonly Noted[]>
  /** Moves a notice; false when another process did. */
  move(noted: Noted, to: EnrollmentNotice): Promise<boolean>
  takeBack(noted: Noted): Promise<unknown>
}

const told = { expiresAt: null, enrollmentId: null } as const
const source = { ip: null, userAgent: null } as const

/**
 * Another factor in its place has a notice of its own, or none. A factor that a request has since marked as complete is
 * left to the next round.
 */
function guardOf({ expiresAt, enrollmentId }: Noted) {
  return { expiresAt, enrollmentId }
}

/** Null for a factor that must not stand. */
async function ownerOf(
  ctx: SurfaceContext,
  noted: Noted,
  enrollmentId: string,
): Promise<User | null> {
  const user = await ctx.collections.users.get(noted.userId)
  if (user === null) return null
  // After a reset, the owner has taken the account back from the person who began the factor.
  if (!enrollmentStands(noted, user)) return null
  const isSettled = isEnrolledMark(enrollmentId) || user.settledEnrollmentId === enrollmentId
  return isSettled ? user : settleEnrollment(ctx, claimedBy(noted), enrollmentId)
}

async function resumeOne(ctx: SurfaceContext, kind: Kind, seen: Noted): Promise<void> {
  const { enrollmentId } = seen
  if (enrollmentId === null) return
  const noted = { ...seen, expiresAt: ctx.clock.now() + noticeMs }
  const { expiresAt } = noted
  // It falls due again, should this process die as well.
  if (!(await kind.move(seen, { expiresAt, enrollmentId }))) return
  const owner = await ownerOf(ctx, noted, enrollmentId)
  if (owner === null) {
    await kind.takeBack(noted)
    return
  }
  const isMarked = isEnrolledMark(enrollmentId)
  const marked = { ...noted, enrollmentId: isMarked ? enrollmentId : enrolledMark(enrollmentId) }
  if (!isMarked) await kind.move(noted, { expiresAt, enrollmentId: marked.enrollmentId })
  factorChanged(ctx, owner, { change: kind.change, source, told: () => kind.move(marked, told) })
}

/**
 * Completes such enrolments: voids what was begun before the factor was stored, tells the owner, or
 * takes the factor away where the account changed before it stood. At least one mail a factor. A bounded
 * piece of the work: call it again where there is `more`.
 */
export async function resumeEnrollmentNotices(ctx: SurfaceContext): Promise<'more' | 'done'> {
  let outcome: 'more' | 'done' = 'done'
  for (const kind of kinds(ctx)) {
    const due = (limit: number) => kind.due(ctx.clock.now(), limit)
    if ((await workOff(due, (noted) => resumeOne(ctx, kind, noted))) === 'more') outcome = 'more'
  }
  return outcome
}

function kinds({ collections: { totpFactors, passkeys } }: SurfaceContext): readonly Kind[] {
  return [
    {
      change: 'totpEnrolled',
      due: (before, limit) => totpFactors.due(before, limit),
      move: async (noted, to) => (await totpFactors.update(noted.id, guardOf(noted), to)) !== null,
      takeBack: ({ id, enrollmentId }) => totpFactors.take(id, { enrollmentId }),
    },
    {
      change: 'passkeyAdded',
      due: (before, limit) => passkeys.due(before, limit),
      move: async (noted, to) => (await passkeys.update(noted.id, guardOf(noted), to)) !== null,
      takeBack: ({ id, enrollmentId }) => passkeys.take(id, { enrollmentId }),
    },
  ]
}
