import type {
  Admitted,
  BrowserKeys,
  Enrollee,
  Services,
  SignedIn,
} from '../domain/services/index.js'
import { acceptedLanguages } from '../engine/text.js'
import type { Answer, Call, ProtectedCall } from '../operations/operation.js'
import { type Admission, askAgain } from './admission.js'
import { type CookiePolicy, cookieOf, cookiesOf, flowKeysIn, hostOnly } from './cookies.js'
import type { ExchangeRequest } from './request/exchange.js'
import { isAskedByPerson } from './request/origin.js'

/** Calls the handler of an admitted request with what it needs of it. */
export async function serve(
  admission: Admission,
  cookies: CookiePolicy,
  services: Services,
): Promise<Answer<unknown>> {
  const { operation } = admission
  const call = callOf(admission, cookies)
  switch (operation.access) {
    case 'public':
      return operation.handle(
        { ...call, ...(await refreshCookiesOf(admission, cookies, services)) },
        services,
      )
    case 'enrolling': {
      const enrollee = enrolleeOf(admission, call.flowCookies)
      return operation.handle({ ...call, enrollee }, services)
    }
    case 'guarded': {
      const readAhead = async () => admission.readAhead?.own
      return operation.handle({ ...call, ...signedInOf(admission), readAhead }, services)
    }
    case 'admin': {
      const { located } = admission
      const again = (when?: 'late') => askAgain(admission, services, when)
      const admitted = { ...admittedOf(admission), located, askAgain: again }
      return operation.handle({ ...call, ...admitted }, services)
    }
  }
}

/** Where the operation goes by one cookie, it gets none of several that cannot be told apart. */
async function refreshCookiesOf(
  { operation, request }: Admission,
  policy: CookiePolicy,
  { refresh }: Pick<Services, 'refresh'>,
): Promise<Pick<Call<unknown>, 'refreshCookie' | 'refreshCookies'>> {
  const { usesRefreshCookie: use } = operation
  const shown = use ? cookiesOf(request, policy, 'refresh').filter((value) => value !== '') : []
  if (use === 'each') return { refreshCookie: null, refreshCookies: shown }
  const refreshCookie = shown.length > 1 ? await refresh.choose(shown) : (shown[0] ?? null)
  return { refreshCookie, refreshCookies: [] }
}

function callOf(admission: Admission, policy: CookiePolicy): ProtectedCall<unknown> {
  const { operation, request, source, address, bearer, params, input } = admission
  return {
    ...(input ?? { body: undefined, query: {} }),
    source,
    languages: () => acceptedLanguages(request.header('accept-language') ?? ''),
    address,
    deviceCookie: cookieOf(request, policy, 'device'),
    registrationCookie: cookieOf(request, hostOnly(policy), 'registration'),
    recognitionCookie: cookieOf(request, hostOnly(policy), 'recognition'),
    linkCookie: cookieOf(request, hostOnly(policy), 'link'),
    isAskedByPerson: () => isAskedByPerson(request),
    flowCookies: flowKeysIn(request, hostOnly(policy)),
    tokenDelivery: operation.choosesDelivery ? deliveryOf(request) : 'cookie',
    bearer,
    params,
    authorization: operation.oauth2 ? request.header('authorization') : undefined,
  }
}

/** As apps ask for it, which keep tokens themselves. */
function deliveryOf(request: ExchangeRequest): 'cookie' | 'body' {
  return request.header('x-token-delivery') === 'body' ? 'body' : 'cookie'
}

function enrolleeOf(admission: Admission, browserKeys: BrowserKeys): Enrollee {
  const { ticket: mfaToken } = admission
  return mfaToken === null
    ? { kind: 'session', who: signedInOf(admission) }
    : { kind: 'ticket', mfaToken, browserKeys }
}

function signedInOf(admission: Admission): SignedIn {
  const { sessionId } = admission
  if (sessionId === null) throw new Error(`${admission.operation.id} was reached without a session`)
  return { ...admittedOf(admission), sessionId }
}

/** The steps before leave neither out; should one be taken away, nothing is served. */
function admittedOf({ operation, principal, user }: Admission): Admitted {
  if (principal === null || user === null) {
    throw new Error(`${operation.id} was reached without a permission`)
  }
  return { principal, user }
}
