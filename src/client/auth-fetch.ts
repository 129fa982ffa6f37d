import type { ClientEnvironment } from './client-environment.js'
import { answerOf, sent } from './exchange.js'
import type { SessionKeeper } from './session-keeper.js'
import { type Sending, withSession } from './with-session.js'

/** `fetch`, with the access token for the origins in the list. */
export type AuthFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

export interface Origins {
  /** Where the token may go. */
  readonly listed: ReadonlySet<string>
  readonly library: string
}

export function authFetch(
  session: SessionKeeper,
  environment: ClientEnvironment,
  { listed, library }: Origins,
  onStepUp: Sending['onStepUp'],
): AuthFetch {
  return async (input, init = {}) => {
    const isRequest = input instanceof Request
    const url = new URL(isRequest ? input.url : input, environment.pageUrl)
    const { origin } = url
    const made = () =>
      new Request(isRequest ? input : url, { ...init, redirect: init.redirect ?? 'error' })
    const whole = (response: Response) => response
    if (!listed.has(origin)) return sent(environment, made(), whole)
    const signal = init.signal ?? (isRequest ? input.signal : null)
    const isRead = isRequest && /^(GET|HEAD)$/.test(init.method ?? input.method)
    // By what it does: React Native has no such class.
    const isStream = 'getReader' in Object(init.body)
    const isRepeatable = isRequest ? isRead : !isStream
    const how = { signal, isRepeatable, isLibrary: origin === library, onStepUp }
    return withSession(session, environment, how, async (token) => {
      const request = made()
      if (token !== null) request.headers.set('authorization', `Bearer ${token}`)
      const value = await sent(environment, request, whole)
      return { value, problem: value.ok ? null : (await answerOf(value.clone())).problem }
    })
  }
}
