import { onceLoaded } from '../../concurrency/promises.js'
import { loadPart } from '../../errors/index.js'
import type { Mailer } from '../../ports/host.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { createMailService, type Links, type MailService, type Suspicion } from './mail-service.js'

/** Mails owners about guesses at their account: wrong passwords before a right one, and wrong second factors after it. */
export interface SuspicionNotices {
  /**
   * Beside the request, unless `notifySecurityChanges` is off. One mail of each kind a day: guesses cost
   * little, and must fill no mailbox. `knownPassword` is a login at a place that is known, mostly of an owner with
   * typing errors: it is counted by itself, so that it uses up no mail about a stranger.
   */
  tell(userId: string, reason: Suspicion | 'knownPassword', source: RequestSource): void
}

export interface MailServices {
  readonly mail: MailService
  readonly suspicions: SuspicionNotices
}

interface Collaborators {
  readonly limits: RateLimiter
  readonly mailer: Mailer
  readonly links: Links
}

export function assembleMail(
  context: SurfaceContext,
  { limits, mailer, links }: Collaborators,
): MailServices {
  const mail = createMailService({ ...context, mailer, links })
  const notices = onceLoaded(async () => {
    const load = () => import('./suspicion-notices.js')
    const { createSuspicionNotices } = await loadPart('notices of guesses', load)
    return createSuspicionNotices({ ...context, limits, mail })
  })
  return {
    mail,
    suspicions: {
      tell(userId, reason, source) {
        const at = context.clock.now()
        context.background.run('telling the owner of guesses', async () =>
          (await notices()).send(userId, { at, reason, ...source }),
        )
      },
    },
  }
}
