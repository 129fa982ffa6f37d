import type { BrowserKeys, ResponseMode } from '../intents/browser-keys.js'
import { flowSeconds } from '../intents/oauth-flows.js'
import type { LoginResult } from '../login/login-result.js'
import type { RefreshGrant } from '../sessions/tokens.js'

/** What a browser is to keep of its flows, for so many whole seconds. */
export interface FlowCookie {
  readonly mode: ResponseMode
  readonly key: string
  readonly expiresIn: number
}

/** How a browser comes back to the host's page. */
export interface Returned {
  /** Where the browser goes on. */
  readonly location: string
  /** Of a session that was opened; null where none was, or an app fetches it. */
  readonly refresh: RefreshGrant | null
  /** Of a login that waits for its second factor: what its ticket is good with. Null otherwise. */
  readonly cookie: FlowCookie | null
}

/** What the host's page learns of a login: nothing of one that is complete. */
export function membersOf(result: LoginResult): Record<string, string> {
  switch (result.status) {
    case 'authenticated':
      return {}
    case 'mfaRequired': {
      const { status, mfaToken: ticket, methods } = result
      return { status, ticket, methods: methods.join(',') }
    }
    case 'mfaEnrollmentRequired':
      return { status: result.status, ticket: result.mfaToken }
    case 'passwordChangeRequired':
      throw new Error('no password was asked for')
  }
}

export function refreshOf(login: LoginResult | null): RefreshGrant | null {
  return login?.status === 'authenticated' ? login.session.refresh : null
}

/**
 * Kept on for as long as the ticket lives, and a flow of another tab. It is not taken away with the
 * ticket: that flow still needs it, and by itself it opens nothing.
 */
export function cookieOf(
  login: LoginResult | null,
  mode: ResponseMode,
  keys: BrowserKeys,
): FlowCookie | null {
  const key = keys[mode]
  const isWaiting = login !== null && login.status !== 'authenticated'
  return isWaiting && key !== null ? { mode, key, expiresIn: flowSeconds } : null
}
