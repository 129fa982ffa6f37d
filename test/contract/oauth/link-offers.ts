import assert from 'node:assert/strict'
import type { ProviderId } from '../../../src/identity-providers/providers.js'
import type { HostKind, HostOptions } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import type { Person } from '../../support/people/people.js'
import {
  appTarget,
  appVerifier,
  memberOf,
  type OauthHost,
  type OauthSteps,
  oauthHost,
} from './oauth-host.js'

export const linkOnSignIn = { oauth: { linkOnSignIn: { operator: true } } } as const

/** A host that offers links. */
export function offeringHost(options: HostOptions = {}, kind?: HostKind): Promise<OauthHost> {
  return oauthHost({ ...linkOnSignIn, ...options }, kind)
}

let subjects = 0

/** An account at Google of the Workspace that the address belongs to. */
export function workspaceAccount({ email }: Pick<Person, 'email'>): Account {
  subjects += 1
  return { subject: String(70_000 + subjects), email, verified: true, hostedDomain: 'example.org' }
}

/** `name=value` of what a reply has the browser keep of a bounce; null where it sets none. */
export function linkCookieOf({ setCookies }: Pick<Reply, 'setCookies'>): string | null {
  const found = setCookies.find((cookie) => /^__Host-op_link=[^;]/.test(cookie))
  return found?.split(';')[0] ?? null
}

/** A sign-in that bounced in a browser; what the browser keeps of it, empty where nothing. */
export async function bounced(
  host: OauthSteps,
  account: Account,
  provider: ProviderId = 'google',
): Promise<string> {
  const reply = await host.signIn('operator', provider, account)
  assert.equal(memberOf(reply, 'error'), 'account_exists_link_required')
  return linkCookieOf(reply) ?? ''
}

/** The same in an app, which keeps `appVerifier`. */
export async function bouncedInApp(host: OauthHost, account: Account): Promise<void> {
  const url = await host.departFromApp('operator', 'google')
  const back = await host.comeBack('operator', 'google', host.stub.agree(url, account))
  assert.equal(memberOf(back, 'error'), 'account_exists_link_required')
  assert.ok(back.headers.get('location')?.startsWith(appTarget.operator))
  assert.equal(linkCookieOf(back), null)
}

/** A sign-in by password, in the browser or app that has this. */
export function signInWith(
  host: Pick<OauthHost, 'send'>,
  { email, password }: Person,
  kept: { readonly cookie?: string; readonly linkVerifier?: string },
): Promise<Reply> {
  const { cookie, linkVerifier } = kept
  const path = `/v1/auth/operator${linkVerifier === undefined ? '' : '/mobile'}/login`
  const more = linkVerifier === undefined ? {} : { linkVerifier }
  const body = { email, password, ...more }
  return host.send('POST', path, cookie ? { cookie, body } : { body })
}

export const inApp = { linkVerifier: appVerifier }

export interface Confirmation {
  readonly bearer?: string
  readonly cookie?: string
  readonly provider?: string
  readonly body?: object
}

export function confirm(
  host: Pick<OauthHost, 'send'>,
  { provider = 'google', body = {}, ...sent }: Confirmation,
): Promise<Reply> {
  return host.send('POST', `/v1/auth/operator/oauth/${provider}/link/confirm`, { ...sent, body })
}
