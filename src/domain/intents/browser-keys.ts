import { equalConstantTime, sha256 } from '../../crypto/secrets.js'

/** How an answer comes back, and so which cookie comes back with it (RFC 6265bis §5.6.7.1). */
export type ResponseMode = 'query' | 'form_post'

/** What a browser keeps of its flows, by how they come back. Null where it sent none. */
export type BrowserKeys = Readonly<Record<ResponseMode, string | null>>

/** Whether one of them is the key whose SHA-256 this is. Takes as long whichever it is. */
export function isOwnBrowser(browserHash: string, keys: BrowserKeys): boolean {
  return [keys.query, keys.form_post]
    .map((key) => key !== null && equalConstantTime(sha256(key), browserHash))
    .includes(true)
}
