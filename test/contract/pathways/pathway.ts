import type { Flow } from '../../flows/flow.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import type { ControlName } from './controls.js'

/** One way to tokens, or to an operation that could be mistaken for one. */
export interface Pathway {
  readonly flow: Flow
  /** What each control makes of the last step; why it cannot stand in this way, when it cannot. */
  readonly cells: Readonly<Record<ControlName, string | { readonly cannot: string }>>
}

/** What a reply gives: `tokens`, what a login still lacks, or a refusal. */
export function givenBy(reply: Reply): string {
  const hasCookie = reply.setCookies.some((cookie) => /_refresh=[^;]/.test(cookie))
  if (reply.status >= 400) {
    return `${hasCookie ? 'tokens and ' : ''}${outcomeOf(reply)}`
  }
  if (reply.status === 302 && !hasCookie) {
    const { searchParams, hash } = new URL(reply.headers.get('location') ?? '')
    const status = searchParams.get('status') ?? new URLSearchParams(hash.slice(1)).get('status')
    return status ?? searchParams.get('error') ?? '302'
  }
  const body = reply.text === '' ? {} : reply.json()
  const tokens = ['accessToken', 'access_token', 'refreshToken']
  const hasTokens = hasCookie || tokens.some((name) => name in body)
  return hasTokens ? 'tokens' : String(body['status'] ?? reply.status)
}
