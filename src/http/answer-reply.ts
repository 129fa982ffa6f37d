import type { FlowCookie, LinkKeyGrant } from '../domain/services/index.js'
import type { Answer, Operation } from '../operations/operation.js'
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
  const { refreshCookie: refresh, deviceCookie: device, flowCookies: flows = [] } = answer
  const { registrationCookie: registration, recognitionCookie: recognition } = answer
  const { linkCookie: link } = answer
  const cleared = (what: 'refresh' | 'device') => clearCookie(policy, what, sameSite)
  const set = (what: 'refresh' | 'device', value: string, maxAge: number) =>
    setCookie(policy, what, sameSite, { value, maxAge })
  const cookies: string[] = []
  if (refresh === 'clear') cookies.push(cleared('refresh'))
  else if (refresh) cookies.push(set('refresh', refresh.refreshToken, refresh.expiresIn))
  if (device === 'clear') cookies.push(cleared('device'))
  else if (device) cookies.push(set('device', device.deviceToken, device.expiresIn))
  // Never shared with other hosts: a page of theirs must not plant or read it.
  const setHere = (what: 'registration' | 'recognition', value: string, maxAge: number) =>
    setCookie(hostOnly(policy), what, sameSite, { value, maxAge })
  if (registration) {
    cookies.push(setHere('registration', registration.registrationKey, registration.expiresIn))
  }
  if (recognition) {
    cookies.push(setHere('recognition', recognition.recognitionId, recognition.expiresIn))
  }
  if (link) cookies.push(linkCookieFor(link, hostOnly(policy), sameSite))
  for (const flow of flows) cookies.push(flowCookieFor(flow, hostOnly(policy), sameSite))
  return cookies
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

/** Also sent with a sign-in by another provider, which comes back from its page. */
function linkCookieFor(
  link: LinkKeyGrant | 'clear',
  policy: CookiePolicy,
  others: SameSite,
): string {
  const sameSite = others === 'none' ? 'none' : 'lax'
  if (link === 'clear') return clearCookie(policy, 'link', sameSite)
  return setCookie(policy, 'link', sameSite, { value: link.linkKey, maxAge: link.expiresIn })
}
