import { type AuthClient, authClient, type SharedOptions, targetOf } from './auth-client.js'
import { browserEnvironment } from './browser-environment.js'
import type { Calls } from './calls.js'
import type { ClientEnvironment } from './client-environment.js'
import { pageSession } from './page-session.js'

/** The options of `createClient`. */
export interface ClientOptions<S extends keyof Calls> extends SharedOptions {
  /** Whose accounts: `client` for end users, `operator` for staff. */
  readonly surface: S
  /**
   * The address of the host, with the mount prefix if it has one: `https://api.example.com/prefix`. Left out,
   * it is the page's own origin.
   */
  readonly baseUrl?: string
  /** For tests: what to take in place of the browser's own. */
  readonly environment?: Partial<ClientEnvironment>
}

/** The client of a page. */
export interface PageClient<S extends keyof Calls> extends AuthClient<S> {
  /** Stops listening to other tabs. For tests, and for pages that make clients on and on. */
  readonly close: () => void
}

/**
 * A client for pages of one surface. It keeps the access token in memory and nowhere else, renews it, and
 * agrees with other tabs. Sends nothing until it is used.
 *
 * @example
 * import { createClient } from 'postern/client'
 * const client = createClient({ surface: 'client', baseUrl: 'https://api.example.com' })
 * client.onChange((state) => console.log(state.status))
 * await client.restore()
 * await client.call('POST /login', { email: 'ada@example.org', password: 'a long passphrase' })
 * const orders = await client.authFetch('https://api.example.com/orders')
 */
export function createClient<S extends keyof Calls>({
  surface,
  baseUrl = '/',
  environment: given,
  ...shared
}: ClientOptions<S>): PageClient<S> {
  const environment = { ...browserEnvironment(), ...given }
  const target = targetOf(baseUrl, environment.pageUrl, surface)
  const session = pageSession(target.base, surface, environment)
  return {
    ...authClient<S, Calls[S]>(session, environment, target, shared),
    close: () => session.close(),
  }
}
