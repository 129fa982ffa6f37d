import { equalConstantTime, sha256 } from '../../crypto/secrets.js'

/** How an answer comes back, and so which cookie comes back with it (RFC 6265bis §5.6.7.1). */
export type ResponseMode = 'query' | 'form_post'

/** What a browser keeps of one flow, in a cookie of the flow's own. */
export interface BrowserKey {
  readonly mode: ResponseMode
  /** Names the flow, in the cookie's name: 16 characters of base64url. It is no secret. */
  readonly flow: string
  readonly key: string
}

/** What a browser sent of all its flows, the oldest first. */
export type BrowserKeys = readonly BrowserKey[]

/** The name of a flow, from the `state` that it sent along. */
export function flowNameOf(state: string): string {
  return sha256(`flow ${state}`).slice(0, 16)
}

/** Whether one of them is the key whose SHA-256 this is. Looks at all of them in any case. */
export function isOwnBrowser(browserHash: string, keys: BrowserKeys): boolean {
  return keys.map(({ key }) => equalConstantTime(sha256(key), browserHash)).includes(true)
}
