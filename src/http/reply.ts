import type { FlowCookie } from '../domain/oauth/oauth-sign-in.js'
import { isBasic } from '../engine/client-authentication.js'
import {
  type AuthError,
  type ConfigValidationError,
  type ErrorCode,
  titleOf,
} from '../errors/index.js'
import type { Answer, Operation } from '../operations/operation.js'
import {
  type CookiePolicy,
  clearCookie,
  hostOnly,
  markerCookie,
  type SameSite,
  setCookie,
} from './cookies.js'
import type { ExchangeReply } from './http-message.js'
import type { IncomingRequest } from './incoming-request.js'

/** The reply to an operation that was done. Null in `sameSite` sets no cookie. */
export function answerReply(
  operation: Operation,
  given: Answer<unknown>,
  policy: CookiePolicy,
  sameSite: SameSite | null,
): ExchangeReply {
  const status = given.status ?? operation.status
  const isEmpty = [204, 302, 303].includes(status)
  return {
    status,
    headers: {
      ...commonHeaders,
      ...(isEmpty ? {} : { 'content-type': 'application/json; charset=utf-8' }),
      ...given.headers,
    },
    cookies: sameSite ? cookiesFor(given, policy, sameSite) : [],
    body: isEmpty ? null : JSON.stringify(given.body),
  }
}

function cookiesFor(
  answer: Answer<unknown>,
  policy: CookiePolicy,
  sameSite: SameSite,
): readonly string[] {
  const { refreshCookie: refresh, deviceCookie: device, flowCookies: flows = [] } = answer
  const { registrationCookie: registration, recognitionCookie: recognition } = answer
  const { signInCookie: signIn } = answer
  const cleared = (what: 'refresh' | 'device') => clearCookie(policy, what, sameSite)
  const set = (what: 'refresh' | 'device', value: string, maxAge: number) =>
    setCookie(policy, what, sameSite, { value, maxAge })
  const cookies: string[] = []
  if (refresh === 'clear') cookies.push(cleared('refresh'))
  else if (refresh) cookies.push(set('refresh', refresh.refreshToken, refresh.expiresIn))
  if (device === 'clear') cookies.push(cleared('device'))
  else if (device) cookies.push(set('device', device.deviceToken, device.expiresIn))
  // Never shared with other hosts: a page of theirs must not plant or read it.
  const setHere = (
    what: 'registration' | 'recognition' | 'sign_in',
    value: string,
    maxAge: number,
  ) => setCookie(hostOnly(policy), what, sameSite, { value, maxAge })
  if (registration) {
    cookies.push(setHere('registration', registration.registrationKey, registration.expiresIn))
  }
  if (recognition) {
    cookies.push(setHere('recognition', recognition.recognitionId, recognition.expiresIn))
  }
  if (signIn) cookies.push(setHere('sign_in', signIn.signInKey, signIn.expiresIn))
  cookies.push(...flowCookieLines(flows, policy, sameSite))
  const markedFor = refresh === 'clear' ? 0 : refresh?.expiresIn
  if (markedFor !== undefined) cookies.push(markerCookie(policy, sameSite, markedFor))
  return cookies
}

export function flowCookieLines(
  flows: readonly FlowCookie[],
  policy: CookiePolicy,
  sameSite: SameSite,
): readonly string[] {
  return flows.map((flow) => flowCookieFor(flow, hostOnly(policy), sameSite))
}

/**
 * A cookie of one host alone, as a registration's is: pages of another host must not plant one of their own flow.
 * A form comes from the provider's own page, a link back from there too; and where the host's pages
 * are another site, they send it along to finish a login.
 */
function flowCookieFor(
  { mode, flow, key, expiresIn }: FlowCookie,
  policy: CookiePolicy,
  others: SameSite,
): string {
  const token = { value: key, maxAge: expiresIn }
  return mode === 'form_post'
    ? setCookie(policy, `oauth_form_${flow}`, 'none', token)
    : setCookie(policy, `oauth_${flow}`, others === 'none' ? 'none' : 'lax', token)
}

/**
 * What tells callers to leave an operation: `Deprecation` (RFC 9745, a structured date) and `Sunset`
 * (RFC 8594, an HTTP date). Empty for an operation that stays.
 */
export function deprecationHeaders({
  deprecated,
}: Pick<Operation, 'deprecated'>): Readonly<Record<string, string>> {
  if (deprecated === undefined) return {}
  const { since, sunset } = deprecated
  return {
    deprecation: `@${Date.parse(since) / 1000}`,
    ...(sunset === undefined ? {} : { sunset: new Date(sunset).toUTCString() }),
  }
}

/**
 * The reply; 304 without its body where the request shows its `ETag` (RFC 9110 §13.1.2, §15.4.5).
 */
export function revalidated(
  { headers: shown }: Pick<IncomingRequest, 'headers'>,
  reply: ExchangeReply,
): ExchangeReply {
  if (!isShown(reply.headers['etag'], shown['if-none-match'])) return reply
  const { 'content-type': _, ...headers } = reply.headers
  return { ...reply, status: 304, headers, body: null }
}

/** Compared weakly, as the condition asks: a proxy that compresses the reply marks its tag as weak. */
function isShown(etag = '', condition = ''): boolean {
  const shown = condition.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return etag !== '' && (shown.includes(etag) || shown.includes('*'))
}

/** On every reply: none of them is a page, a script, or fit to be kept. */
export const commonHeaders = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** Leads a person who is on the way with a whole page on to a page of the host (RFC 9110 §15.4.4). */
export function onwardReply(location: string): ExchangeReply {
  return { status: 303, headers: { ...commonHeaders, location }, cookies: [], body: null }
}

/**
 * The problem body of an error (RFC 9457). The plain 401 has no `code` member: clients refresh and
 * retry exactly then. Every 401 names its scheme (RFC 9110 §11.6.1).
 */
export function problemReply(
  error: AuthError,
  headers: Readonly<Record<string, string>> = {},
): ExchangeReply {
  const { maxAgeSeconds: maxAge, violations, field, reason } = error
  const code = error.code === 'unauthorized' ? null : error.code
  const isOfConfiguration = error.status === 422 && error.code.startsWith('config.')
  const more = {
    ...(maxAge === null ? {} : { maxAgeSeconds: maxAge }),
    ...(violations === null ? {} : { violations }),
    ...(reason === null ? {} : { reason }),
    // An edit of the configuration is refused in four members: `detail` names the key.
    ...(field === null || isOfConfiguration ? {} : { field }),
  }
  return {
    status: error.status,
    headers: {
      ...commonHeaders,
      'content-type': 'application/problem+json; charset=utf-8',
      ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      // Nobody waits for the rest of the request (RFC 9110 §15.5.9).
      ...(error.status === 408 ? { connection: 'close' } : {}),
      // For information beside a 403: a 401 would send clients into refreshing and retrying.
      ...(maxAge === null ? {} : { 'www-authenticate': stepUpChallenge(maxAge) }),
      ...(error.retryAfter === null ? {} : { 'retry-after': String(error.retryAfter) }),
      ...headers,
    },
    cookies: [],
    body: problemBody({ status: error.status, detail: error.message, code, ...more }),
  }
}

/** RFC 9457: `status`, `title`, `detail` and `code`, and what else an error tells. */
function problemBody({
  status,
  detail,
  code,
  ...more
}: {
  readonly status: number
  readonly detail: string
  readonly code: string | null
}): string {
  const named = code === null ? {} : { code }
  return JSON.stringify({ status, title: titleOf(status), detail, ...named, ...more })
}

/** RFC 9470 §3 */
function stepUpChallenge(maxAge: number): string {
  return `Bearer error="insufficient_user_authentication", max_age=${maxAge}`
}

/**
 * What a module's validator refused: the problem body with the module's own code, or, without one,
 * the text-only body of old. Clients compare that one byte by byte.
 */
export function validatorReply(error: ConfigValidationError): ExchangeReply {
  const { code = '', message: detail } = error
  const status = 422
  const isText = code === ''
  return {
    status,
    headers: {
      ...commonHeaders,
      'content-type': isText
        ? 'text/plain; charset=utf-8'
        : 'application/problem+json; charset=utf-8',
    },
    cookies: [],
    body: isText ? titleOf(status) : problemBody({ status, detail, code }),
  }
}

/** The errors of RFC 6749 §5.2. Any other error of a token endpoint gets a problem body. */
const codes: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_client',
  'unsupported_grant_type',
  'invalid_scope',
]

/**
 * The refusal of a token endpoint (RFC 6749 §5.2), the same bytes for each code. Null for an error that
 * has no name there. The challenge is `Basic` where the client tried that.
 */
export function oauth2Refusal(
  request: Pick<IncomingRequest, 'headers'>,
  { code, status, message }: AuthError,
): ExchangeReply | null {
  if (!codes.includes(code)) return null
  const scheme = isBasic(request.headers.authorization)
    ? 'Basic realm="oauth2", charset="UTF-8"'
    : 'Bearer'
  return {
    status,
    headers: {
      ...commonHeaders,
      pragma: 'no-cache',
      'content-type': 'application/json; charset=utf-8',
      ...(status === 401 ? { 'www-authenticate': scheme } : {}),
    },
    cookies: [],
    body: JSON.stringify({ error: code, error_description: plainly(message) }),
  }
}

/** The description has no quotes, backslashes or letters beyond ASCII. */
function plainly(message: string): string {
  return message.replaceAll(/["\\]|[^\x20-\x7e]/g, "'")
}
