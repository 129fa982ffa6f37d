import type { PlainProvider } from './provider.js'
import { displayName, emailOf } from './read-claims.js'

/**
 * https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 *
 * OAuth without OpenID Connect: no ID token and no nonce. Accounts are named by number; a login name
 * is free for others once it was changed. An address of the public profile proves nothing.
 */
export const github: PlainProvider = {
  kind: 'plain',
  name: 'GitHub',
  scope: 'user:email',
  responseMode: 'query',
  accountPrompt: 'select_account',
  endpoints: {
    issuer: 'https://github.com/login/oauth',
    authorization: 'https://github.com/login/oauth/authorize',
    token: 'https://github.com/login/oauth/access_token',
    jwks: '',
    user: 'https://api.github.com/user',
    emails: 'https://api.github.com/user/emails',
  },
  locate: (endpoints) => endpoints,
  isIssuer: (given, endpoints) => given === endpoints.issuer,
  profileOf(user, emails, issuer) {
    if (typeof user !== 'object' || user === null || !('id' in user)) return null
    const { id } = user
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0) return null
    const primary = primaryOf(emails)
    return {
      issuer,
      subject: String(id),
      email: primary,
      emailVerified: primary !== null,
      hostedDomain: null,
      name: displayName('name' in user ? user.name : null),
    }
  },
}

/** The primary address, if it is confirmed; another confirmed one is not where people are reached. */
function primaryOf(emails: unknown): string | null {
  if (!Array.isArray(emails)) return null
  const found: unknown = emails.find(
    (one: unknown) =>
      typeof one === 'object' &&
      one !== null &&
      'primary' in one &&
      one.primary === true &&
      'verified' in one &&
      one.verified === true,
  )
  if (typeof found !== 'object' || found === null || !('email' in found)) return null
  return emailOf({ email: found.email })
}
