import { appSession } from './app-session.js'
import {
  type AuthClient,
  authClient,
  type CallOptions,
  type SharedOptions,
  targetOf,
} from './auth-client.js'
import { browserEnvironment } from './browser-environment.js'
import type { Target } from './caller.js'
import type { AppCalls } from './calls.js'
import type { ClientEnvironment } from './client-environment.js'
import type { Json } from './exchange.js'
import { keptInputs } from './kept-inputs.js'
import { besidesOf, type KeptTokens, keptTokens, type TokenStorage } from './kept-tokens.js'

/** What the client takes from the machine. Tests pass parts of it. */
export type MobileEnvironment = Pick<ClientEnvironment, 'fetch' | 'now' | 'after' | 'random'>

/** The options of `createMobileClient`. */
export interface MobileClientOptions<S extends keyof AppCalls> extends SharedOptions {
  /** Whose accounts: `client` for end users, `operator` for staff. */
  readonly surface: S
  /** The address of the host, with the mount prefix if it has one: `https://api.example.com/prefix`. Only https. */
  readonly baseUrl: string
  /**
   * True to allow http for a `baseUrl` on `localhost`, `127.0.0.1`, `[::1]` and `10.0.2.2`, which is the machine of an
   * Android emulator. For development alone. Default: https alone, because tokens would be sent in clear.
   */
  readonly allowInsecureLoopback?: boolean
  /**
   * Where the refresh token is kept, for this client alone. There is no default: a token in a place that other apps or
   * backups can read is a session for them.
   */
  readonly storage: TokenStorage
  /** For tests: what to take in place of the machine's own. */
  readonly environment?: Partial<MobileEnvironment>
}

/** The session of an app on one surface. */
export type MobileClient<S extends keyof AppCalls> = AuthClient<S, AppCalls[S]>

/**
 * A client for apps, on React Native and wherever there is no refresh cookie. It keeps the refresh token in `storage`,
 * and uses a new one once it is written there. Calls at the same time are one rotation. What a browser has as cookies
 * beside it (recognition id, trusted device, registration key) is kept and sent as well. Sends nothing until it is
 * used. Throws a `TypeError` where an option is of another form.
 *
 * @example
 * import { createMobileClient } from 'postern/client/mobile'
 * import type { TokenStorage } from 'postern/client/mobile'
 * declare const keychain: TokenStorage
 * const client = createMobileClient({
 *   surface: 'client',
 *   baseUrl: 'https://api.example.com',
 *   storage: keychain,
 * })
 * await client.restore()
 * await client.call('POST /mobile/login', { email: 'ada@example.org', password: 'a long passphrase' })
 * const orders = await client.authFetch('/orders')
 */
export function createMobileClient<S extends keyof AppCalls>({
  surface,
  baseUrl,
  storage,
  allowInsecureLoopback = false,
  environment: given,
  ...shared
}: MobileClientOptions<S>): MobileClient<S> {
  checkOptions(baseUrl, storage, allowInsecureLoopback)
  const target = targetOf(baseUrl, baseUrl, surface)
  const machine = { ...browserEnvironment(), ...given }
  const environment = {
    ...machine,
    // Nothing of a page, also where the app is one.
    ...{ locks: null, storage: null, channel: null, pageUrl: target.origin },
    fetch: (request: Request) => machine.fetch(asApp(request, target)),
  }
  const tokens = keptTokens(storage, target.base)
  const session = appSession(target.base, tokens, environment)
  const client = authClient<S, AppCalls[S]>(session, environment, target, shared)
  // What goes in and comes out is what the operation table says, which the types are made from.
  const call = withKept(tokens, client.call as unknown as PlainCall)
  return { ...client, call: call as unknown as typeof client.call }
}

const secure = /^https:\/\/[^/]/i
/** This machine, and that of an Android emulator. */
const loopback = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\]|10\.0\.2\.2)(:\d+)?(\/|$)/i

function checkOptions(baseUrl: string, storage: TokenStorage, allowsLoopback: boolean): void {
  const { read, write }: Partial<TokenStorage> = Object(storage)
  if (typeof read !== 'function' || typeof write !== 'function') {
    throw new TypeError('createMobileClient: option "storage" must have read() and write()')
  }
  if (!secure.test(baseUrl) && !(allowsLoopback === true && loopback.test(baseUrl))) {
    throw new TypeError(
      'createMobileClient: option "baseUrl" must be like https://api.example.com; in development, allowInsecureLoopback allows http://localhost',
    )
  }
}

/** For the library: tokens go into bodies and never into cookies. */
function asApp(request: Request, { base }: Target): Request {
  if (!request.url.startsWith(`${base}/`)) return request
  const own = new Request(request, { credentials: 'omit' })
  own.headers.set('x-token-delivery', 'body')
  return own
}

/** A call of any operation. */
type PlainCall = (key: string, input?: Json, options?: CallOptions) => Promise<Json | null>

/** Sends what is kept with the calls that take it, and keeps what their replies give. */
function withKept(tokens: KeptTokens, call: PlainCall): PlainCall {
  return async (key, input, options) => {
    const names = keptInputs[key] ?? []
    const kept: Json = names.length > 0 ? { ...(await tokens.update((all) => all)) } : {}
    const own = names.flatMap((name) => (name in kept ? [[name, kept[name]]] : []))
    const reply = await call(key, { ...Object.fromEntries(own), ...input }, options)
    const besides = besidesOf(reply ?? {})
    if (Object.keys(besides).length > 0) await tokens.update((all) => ({ ...all, ...besides }))
    return reply
  }
}
