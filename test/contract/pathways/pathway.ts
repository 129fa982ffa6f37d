import type { Flow } from '../../flows/flow.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import type { ControlName } from './controls.js'

/** How well a way shows that the caller is who they say, as `docs/pathways.md` publishes it. */
export interface Strength {
  /** What the caller shows. */
  readonly shows: string
  /** Of different kinds; null where the way goes on with a session, or opens none. */
  readonly factors: 1 | 2 | null
  /** Whether what is shown to a page of another origin is worth nothing here (NIST SP 800-63B-4, 3.2.5). */
  readonly resistsPhishing:
    | 'yes'
    | 'no'
    | 'the second factor'
    | 'as the provider'
    | 'as the session'
  /** The most that it can count as (NIST SP 800-63B-4); null where it is no login of a person. */
  readonly aal: 1 | 2 | null
  /** The claim of the access token, in its order (RFC 8176); null where no session begins or goes on. */
  readonly amr: readonly string[] | null
}

/** One way to tokens, or to an operation that could be mistaken for one. */
export interface Pathway {
  readonly flow: Flow
  /** Null for one that is never let in. */
  readonly strength: Strength | null
  /** What each control makes of the last step; why it cannot stand in this way, when it cannot. */
  readonly cells: Readonly<Record<ControlName, string | { readonly cannot: string }>>
}

/** What a reply gives: `tokens`, what a login still lacks, or a refusal. */
export function givenBy(reply: Reply): string {
  const hasCookie = reply.setCookies.some((cookie) => /_refresh=[^;]/.test(cookie))
  if (reply.status >= 400) {
    return `${hasCookie ? 'tokens and ' : ''}${outcomeOf(reply)}`
  }
  if ([302, 303].includes(reply.status) && !hasCookie) {
    const { searchParams, hash } = new URL(reply.headers.get('location') ?? '')
    const status = searchParams.get('status') ?? new URLSearchParams(hash.slice(1)).get('status')
    return status ?? searchParams.get('error') ?? '302'
  }
  const body = reply.text === '' ? {} : reply.json()
  const tokens = ['accessToken', 'access_token', 'refreshToken']
  const hasTokens = hasCookie || tokens.some((name) => name in body)
  return hasTokens ? 'tokens' : String(body['status'] ?? reply.status)
}
