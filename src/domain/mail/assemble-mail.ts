import type { Mailer } from '../../ports/mailer.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { createMailService, type Links, type MailService } from './mail-service.js'
import { createSuspicionNotices, type SuspicionNotices } from './suspicion-notices.js'

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
  return { mail, suspicions: createSuspicionNotices({ ...context, limits, mail }) }
}
