import { withTimeout } from '../../concurrency/promises.js'
import type { User } from '../../model/user.js'
import type { MfaChange } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import type { MailService } from '../mail/mail-service.js'
import type { Sessions } from '../sessions/sessions.js'
import { noticeMs } from './notice-ms.js'
import { raiseDeviceEpoch } from './raise-device-epoch.js'
import { stepUpRequired } from './step-up-required.js'

/** A change of a user's second factors. */
export interface FactorChange {
  readonly change: MfaChange
  readonly source: RequestSource
  /** The person, unless it is given; null means that the host's code named no actor. */
  readonly actorId?: string | null
  /** The session that asked for it; left out where the host's code did, or a login that has none yet. */
  readonly askedIn?: string
  /** Ends all sessions but this one, which may be a login that has none yet; left out, none. */
  readonly endsAllBut?: { readonly sessionId: string }
  /** Called once the mailer has the mail, or where none is sent; a failure of it is logged. */
  readonly told?: () => Promise<unknown>
}

/** The steps around every change of a user's second factors. */
export interface FactorChanges {
  /**
   * Call it before a factor is taken or replaced: a crash in between then leaves nothing that was granted on the factor.
   * Voids earlier proofs and trusted devices, and ends the other sessions where the change says so. May be repeated with
   * the user that it resolved with. Throws what `sessionRefusal` gives where the session that asked has ended, and
   * `step_up_required` where its proof was voided since `user` was read: a thief with that session must not take factors
   * away after the owner has acted. Null when the user is gone.
   */
  retire(user: Pick<User, 'id' | 'deviceEpoch'>, change: FactorChange): Promise<User | null>
  /** To be called once the change stands. Emits `mfa.changed` and mails the person. */
  made(user: User, change: FactorChange): void
  /**
   * To be called once a factor of `FactorEnrollment` stands, which voided earlier proofs itself, and what
   * the other sessions could be refreshed with. Tells of it, and ends the other sessions where the
   * change says so.
   */
  enrolled(user: User, change: FactorChange): Promise<void>
}

interface Deps
  extends Pick<SurfaceContext, 'collections' | 'clock' | 'settings' | 'background' | 'emit'> {
  readonly judge: Pick<IntentJudge, 'sessionRefusal'>
  readonly mail: MailService
  readonly sessions: Sessions
}

/** Less than `noticeMs`, after which the process that sweeps tells the owner. */
const mailerMs = noticeMs / 2

export function createFactorChanges(deps: Deps): FactorChanges {
  const { collections, clock, sessions } = deps

  function notify(
    user: User,
    at: number,
    { change, told }: Pick<FactorChange, 'change' | 'told'>,
  ): void {
    // Beside the request: what was changed must not be answered by a failure to read a setting.
    deps.background.run('mailing about a factor', async () => {
      const { notifySecurityChanges } = await deps.settings()
      if (notifySecurityChanges) await answered(deps.mail.mfaChanged(user, { at, change }))
      await told?.()
    })
  }

  /** A mailer that answers too late has the mail all the same: the owner is not to get it again and again. */
  async function answered(mailing: Promise<void>): Promise<void> {
    await withTimeout(mailing, mailerMs, clock).catch(() => {})
  }

  function made(user: User, { change, source, actorId = user.id, ...rest }: FactorChange): void {
    const at = clock.now()
    deps.emit('mfa.changed', source, { at, userId: user.id, actorId, change })
    notify(user, at, { change, ...rest })
  }

  async function endOthers(userId: string, { source, endsAllBut }: FactorChange): Promise<void> {
    if (endsAllBut === undefined) return
    await sessions.endAll(userId, 'factor_change', source, { except: endsAllBut.sessionId })
  }

  return {
    async retire({ id, deviceEpoch }, change) {
      const { askedIn, endsAllBut: kept } = change
      const requireRight = async (now: User) => {
        if (askedIn === undefined) return
        const refusal = await deps.judge.sessionRefusal(now, askedIn)
        if (refusal !== null) throw refusal
        if (now.deviceEpoch === deviceEpoch) return
        throw stepUpRequired((await deps.settings()).stepUpMaxAge)
      }
      const raised = await raiseDeviceEpoch(collections.users, id, { kept, requireRight })
      if (raised !== null) await endOthers(id, change)
      return raised
    },

    made,

    async enrolled(user, change) {
      made(user, change)
      await endOthers(user.id, change)
    },
  }
}
