import type { BrowserKey, BrowserKeys } from '../intents/browser-keys.js'
import type { LinkKeyGrant } from '../intents/link-offers.js'
import { flowSeconds } from '../intents/oauth-flows.js'
import type { LoginResult } from '../login/login-result.js'
import type { RecognitionGrant } from '../login/recognition.js'
import type { RefreshGrant } from '../sessions/tokens.js'
import { BouncedSignIn } from './bounced-sign-in.js'

/** What a browser is to keep of a flow, for so many whole seconds; 0 takes it away. */
export interface FlowCookie extends BrowserKey {
  readonly expiresIn: number
}

/** How a browser comes back to the host's page. */
export interface Returned {
  /** Where the browser goes on. */
  readonly location: string
  /** The refresh token of a session that was opened; null where none was, or an app fetches it. */
  readonly refresh: RefreshGrant | null
  /** For a login that waits for its second factor: what its ticket is good with. Null otherwise. */
  readonly cookie: FlowCookie | null
  /** What the browser is to be known by; null without a session. */
  readonly recognition: RecognitionGrant | null
  /** For a sign-in that bounced: what the browser keeps of it. Null otherwise. */
  readonly link: LinkKeyGrant | null
}

/** What the host's page learns of a login: if it is complete, the link that it is offered. */
export function membersOf(result: LoginResult): Record<string, string> {
  switch (result.status) {
    case 'authenticated':
      return result.linkOffer === null ? {} : { linkOffer: result.linkOffer.provider }
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

/** `own` is undefined for an app. */
export function returned(
  location: string,
  login: LoginResult | null,
  own: BrowserKey | undefined,
): Returned {
  const isIn = login?.status === 'authenticated'
  return {
    location,
    refresh: isIn ? login.session.refresh : null,
    cookie: cookieOf(login, own),
    recognition: isIn ? login.recognition : null,
    link: null,
  }
}

export function refused(location: string, error: unknown): Returned {
  const link = error instanceof BouncedSignIn ? error.link : null
  return { location, refresh: null, cookie: null, recognition: null, link }
}

/**
 * Kept on for as long as the ticket lives. It is not taken away with the flow or with the ticket: by
 * itself it opens nothing.
 */
function cookieOf(login: LoginResult | null, own: BrowserKey | undefined): FlowCookie | null {
  const isWaiting = login !== null && login.status !== 'authenticated'
  return isWaiting && own !== undefined ? { ...own, expiresIn: flowSeconds } : null
}

/**
 * Flows of one browser that may be on their way at once. Another site can begin any number of them,
 * and with too many cookies the browser's requests would be refused for their size.
 */
const mostFlows = 8

/** The oldest of them, which are to make room for one more. */
export function surplusOf(keys: BrowserKeys): readonly FlowCookie[] {
  const surplus = keys.slice(0, Math.max(0, keys.length - (mostFlows - 1)))
  return surplus.map((key) => ({ ...key, key: '', expiresIn: 0 }))
}
