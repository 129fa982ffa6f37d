import { caller, type Target } from './caller.js'
import type { Calls } from './calls.js'
import type { ClientEnvironment } from './client-environment.js'
import { answerOf, type Json, sent, unlessAborted } from './exchange.js'
import type { SessionKeeper } from './session-keeper.js'
import type { SessionState } from './session-state.js'
import { type Sending, type StepUpChallenge, withSession } from './with-session.js'

/** How a call is made. */
export interface CallOptions {
  /** Gives the call up. A request that was sent already may have been carried out. */
  readonly signal?: AbortSignal
}

/** The arguments after the operation: what it takes, which may be left out where all of it may. */
export type CallArguments<I> =
  Record<never, never> extends I
    ? readonly [input?: I, options?: CallOptions]
    : readonly [input: I, options?: CallOptions]

/**
 * The session of this browser, or of this app, on one surface. Its functions may be passed on by themselves.
 * `C` is what it may call.
 */
export interface AuthClient<S extends keyof Calls, C = Calls[S]> {
  /** What is known of the session now: the same object until it changes. */
  readonly get: () => SessionState
  /** Calls `listener` after each change, until the function that it returns is called. */
  readonly subscribe: (listener: () => void) => () => void
  /** The same as `subscribe`, with the new state for the listener. */
  readonly onChange: (listener: (state: SessionState) => void) => () => void
  /**
   * Asks the server who is signed in, and resolves with the state. Call it once when a page loads or an app starts. Calls at the same
   * time are one. Rejects with a `PosternError`, with the state unchanged, where the server cannot be asked.
   */
  readonly restore: (options?: CallOptions) => Promise<SessionState>
  /**
   * Calls an operation: `call('POST /login', { email, password })`. Names in the path are taken from the input,
   * the rest is the body, or the query of a `GET`. Resolves with the reply's body; null where it has none. Rejects
   * with a `PosternError`. The access token is sent, and renewed, where a user is signed in.
   */
  readonly call: <K extends keyof C>(
    operation: K,
    ...rest: CallArguments<InputOf<C[K]>>
  ) => Promise<ReplyOf<C[K]>>
  /**
   * `fetch` for routes of your own. Requests to the listed origins carry the access token, which is renewed where
   * needed; a plain 401 is met by a new token and one repeat, unless the body is a stream or a `Request`'s.
   * `redirect` is `error` by default. Rejects with a `PosternError` where there is no reply, or where the session
   * turns out to be over before the request was sent.
   */
  readonly authFetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
}

/** The options that pages and apps have in common. */
export interface SharedOptions {
  /**
   * The origins, such as `https://api.example.com`, whose requests by `authFetch` carry the access token. Left out,
   * that of `baseUrl` alone.
   */
  readonly origins?: readonly string[]
  /**
   * Called where an operation wants a recent proof of a second factor. Prove it, with `POST /step-up` or a
   * passkey; the operation is sent once more when the promise resolves. If it rejects, so does the call.
   */
  readonly onStepUp?: (challenge: StepUpChallenge) => Promise<void>
}

/** What an operation takes. */
export type InputOf<C> = C extends { readonly input: infer I } ? I : never

/** What an operation answers. */
export type ReplyOf<C> = C extends { readonly reply: infer R } ? R : never

/** Where a host is: `baseUrl`, resolved against the page. */
export function targetOf(baseUrl: string, pageUrl: string, surface: string): Target {
  const { origin, href } = new URL(baseUrl, pageUrl)
  const root = href.replace(/\/$/, '')
  return { origin, root, base: `${root}/v1/auth/${surface}` }
}

/** The functions of a client. */
export function authClient<S extends keyof Calls, C>(
  session: SessionKeeper,
  environment: ClientEnvironment,
  target: Target,
  { origins, onStepUp }: SharedOptions,
): AuthClient<S, C> {
  const { origin } = target
  const call = caller(session, environment, target, onStepUp)
  // With any other text, the host would never learn that the token does not go there.
  if (origins?.some((one) => new URL(one, origin).origin !== one)) {
    throw new TypeError('option "origins" must be like https://api.example.com')
  }
  const listed = new Set(origins ?? [origin])
  const { get, subscribe } = session.state
  return {
    get,
    subscribe,
    onChange: (listener) => subscribe(() => listener(get())),
    restore: ({ signal = null } = {}) => unlessAborted(session.restore(), signal),
    // What comes back is what the operation table says, which the types are made from.
    call: (operation, ...rest: readonly unknown[]) => {
      const [input, options] = rest as readonly [input?: Json, options?: CallOptions]
      return call(String(operation), input, options?.signal ?? null)
    },
    authFetch: authFetch(session, environment, { listed, library: origin }, onStepUp),
  }
}

/** `fetch`, with the access token for the origins in the list. */
export type AuthFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

export interface Origins {
  /** Where the token may go. */
  readonly listed: ReadonlySet<string>
  readonly library: string
}

function authFetch(
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
