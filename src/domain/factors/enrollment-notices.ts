import { workOff } from '../../concurrency/promises.js'
import { enrolledMark, enrollmentStands, isEnrolledMark } from '../../engine/factors.js'
import type { EnrollmentNotice, Passkey } from '../../model/factors.js'
import type { User } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { FactorChanges } from './factor-changes.js'
import { claimedBy, type FactorEnrollment } from './factor-enrollment.js'
import { noticeMs } from './notice-ms.js'

/** Tells owners of factors whose request died between storing them and telling. */
export interface EnrollmentNotices {
  /**
   * Completes such enrolments: voids what was begun before the factor was stored, tells the owner, or
   * takes the factor away where the account changed before it stood. At least one mail a factor. A bounded
   * piece of the work: call it again where there is `more`.
   */
  resume(): Promise<'more' | 'done'>
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock'>
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

export function createEnrollmentNotices(
  { collections, clock }: Deps,
  enrollment: Pick<FactorEnrollment, 'settle'>,
  changes: Pick<FactorChanges, 'made'>,
): EnrollmentNotices {
  const { users, totpFactors, passkeys } = collections

  /**
   * Another factor in its place has a notice of its own, or none. A factor that a request marks as complete meanwhile is left
   * to the next round.
   */
  const guardOf = ({ expiresAt, enrollmentId }: Noted) => ({ expiresAt, enrollmentId })
  const kinds: readonly Kind[] = [
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

  /** Null for a factor that must not stand. */
  async function ownerOf(noted: Noted, enrollmentId: string): Promise<User | null> {
    const user = await users.get(noted.userId)
    if (user === null) return null
    // After a reset, the owner has taken the account back from the person who began the factor.
    if (!enrollmentStands(noted, user)) return null
    const isSettled = isEnrolledMark(enrollmentId) || user.lastIntentId !== enrollmentId
    return isSettled ? user : enrollment.settle(claimedBy(noted), enrollmentId)
  }

  async function resumeOne(kind: Kind, seen: Noted): Promise<void> {
    const { enrollmentId } = seen
    if (enrollmentId === null) return
    const noted = { ...seen, expiresAt: clock.now() + noticeMs }
    const { expiresAt } = noted
    // It falls due again, should this process die as well.
    if (!(await kind.move(seen, { expiresAt, enrollmentId }))) return
    const owner = await ownerOf(noted, enrollmentId)
    if (owner === null) {
      await kind.takeBack(noted)
      return
    }
    const isMarked = isEnrolledMark(enrollmentId)
    const marked = { ...noted, enrollmentId: isMarked ? enrollmentId : enrolledMark(enrollmentId) }
    if (!isMarked) await kind.move(noted, { expiresAt, enrollmentId: marked.enrollmentId })
    changes.made(owner, { change: kind.change, source, told: () => kind.move(marked, told) })
  }

  return {
    async resume() {
      let outcome: 'more' | 'done' = 'done'
      for (const kind of kinds) {
        const due = (limit: number) => kind.due(clock.now(), limit)
        if ((await workOff(due, (noted) => resumeOne(kind, noted))) === 'more') outcome = 'more'
      }
      return outcome
    },
  }
}
