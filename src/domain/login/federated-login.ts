import type { LoginTicket } from '../../model/login-ticket.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { OpenedSession } from '../sessions/sessions.js'

/** What a login asks about the way it came by. */
export interface FederatedLogin {
  /** Whether a half-finished login may go on: its way is switched on, and what it came by is good. */
  isValid(ticket: LoginTicket): Promise<boolean>
  /**
   * Notes the session that an app's code came to, before it is handed out. False when the code came
   * again meanwhile: then the session is ended. True for the empty id: no code began the login.
   */
  bindSession(codeId: string, session: OpenedSession, source: RequestSource): Promise<boolean>
}
