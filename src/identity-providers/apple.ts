import type { Claims, OidcProvider } from './provider.js'
import { displayName, emailOf, identifier, isTrue } from './read-claims.js'

const issuer = 'https://appleid.apple.com'

/**
 * https://developer.apple.com/documentation/signinwithapple
 *
 * Apple answers a request for a name or an address by a form. The form holds the name once, at the very
 * first sign-in; no signature covers it, so it is for display only.
 */
export const apple: OidcProvider = {
  kind: 'oidc',
  name: 'Apple',
  scope: 'name email',
  responseMode: 'form_post',
  accountPrompt: null,
  tellsNameOnce: true,
  endpoints: {
    issuer,
    authorization: `${issuer}/auth/authorize`,
    token: `${issuer}/auth/token`,
    jwks: `${issuer}/auth/keys`,
    user: '',
    emails: '',
  },
  locate: (endpoints) => endpoints,
  isIssuer: (given, endpoints) => given === endpoints.issuer,
  issuerOf: (_claims, endpoints) => endpoints.issuer,
  mayKeySign: () => true,
  profileOf(claims, given, form) {
    const subject = identifier(claims['sub'])
    if (subject === null) return null
    const emailVerified = isTrue(claims['email_verified'])
    return {
      issuer: given,
      subject,
      email: emailOf(claims),
      emailVerified,
      hostedDomain: null,
      name: nameIn(form),
    }
  },
}

function nameIn({ user }: Claims): string {
  const { name } = membersOf(typeof user === 'string' ? parsed(user) : null)
  const { firstName, lastName } = membersOf(name)
  const parts = [firstName, lastName].filter((part) => typeof part === 'string')
  return displayName(parts.join(' '))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function membersOf(value: unknown): Claims {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {}
}
