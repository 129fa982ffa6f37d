import type { Mailer } from '../../ports/mailer.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { createMailService, type Links, type MailService } from './mail-service.js'

export interface MailServices {
  readonly mail: MailService
}

export function assembleMail(
  context: SurfaceContext,
  { mailer, links }: { readonly mailer: Mailer; readonly links: Links },
): MailServices {
  return {
    mail: createMailService({ ...context, mailer, links }),
  }
}
