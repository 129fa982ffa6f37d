import type { FlowCookie } from '../domain/services/index.js'
import type { Answer, Operation, RegistrationCookie, TokenCookie } from '../operations/operation.js'
import { type CookiePolicy, clearCookie, hostOnly, type SameSite, setCookie } from './cookies.js'
import { commonHeaders } from './problem.js'
import type { ExchangeReply } from './request/exchange.js'

/** The reply to an operation that was done. Null in `sameSite` sets no cookie. */
export function answerReply(
  operation: Operation,
  given: Answer<unknown>,
  policy: CookiePolicy,
  sameSite: SameSite | null,
): ExchangeReply {
  const isEmpty = operation.status === 204 || operation.status === 302
  return {
    status: operation.status,
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
  const { refreshCookie: refresh, deviceCookie: device, flowCookie: flow } = answer
  const { registrationCookie: registration } = answer
  const cleared = (what: TokenCookie) => clearCookie(policy, what, sameSite)
  const set = (what: TokenCookie, value: string, maxAge: number) =>
    setCookie(policy, what, sameSite, { value, maxAge })
  const cookies: string[] = []
  if (refresh === 'clear') cookies.push(cleared('refresh'))
  else if (refresh) cookies.push(set('refresh', refresh.refreshToken, refresh.expiresIn))
  if (device === 'clear') cookies.push(cleared('device'))
  else if (device) cookies.push(set('device', device.deviceToken, device.expiresIn))
  if (registration) cookies.push(registrationCookieFor(registration, policy, sameSite))
  if (flow) cookies.push(flowCookieFor(flow, policy, sameSite))
  return cookies
}

/** Never shared with other hosts: a page of theirs must not plant or read it. */
function registrationCookieFor(
  { registrationKey, expiresIn }: RegistrationCookie,
  policy: CookiePolicy,
  sameSite: SameSite,
): string {
  const token = { value: registrationKey, maxAge: expiresIn }
  return setCookie(hostOnly(policy), 'registration', sameSite, token)
}

/**
 * A form comes from the provider's own page, a link back from there too; and where the host's pages
 * are another site, they send it along to finish a login.
 */
function flowCookieFor(
  { mode, key, expiresIn }: FlowCookie,
  policy: CookiePolicy,
  others: SameSite,
): string {
  const token = { value: key, maxAge: expiresIn }
  return mode === 'form_post'
    ? setCookie(policy, 'oauth_form', 'none', token)
    : setCookie(policy, 'oauth', others === 'none' ? 'none' : 'lax', token)
}
