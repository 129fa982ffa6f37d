import type { OidcProvider } from './provider.js'
import { displayName, emailOf, identifier, isTrue } from './read-claims.js'

const issuer = 'https://accounts.google.com'
/** Google's documentation still allows for tokens whose issuer lacks the scheme. */
const shortIssuer = 'accounts.google.com'

/** https://developers.google.com/identity/openid-connect/openid-connect */
export const google: OidcProvider = {
  kind: 'oidc',
  name: 'Google',
  scope: 'openid email profile',
  responseMode: 'query',
  accountPrompt: 'select_account',
  endpoints: {
    issuer,
    authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
    token: 'https://oauth2.googleapis.com/token',
    jwks: 'https://www.googleapis.com/oauth2/v3/certs',
    user: '',
    emails: '',
  },
  locate: (endpoints) => endpoints,
  isIssuer: (given, endpoints) => given === endpoints.issuer,
  issuerOf: ({ iss }, endpoints) =>
    iss === shortIssuer && endpoints.issuer === issuer ? shortIssuer : endpoints.issuer,
  mayKeySign: () => true,
  profileOf(claims, given) {
    const subject = identifier(claims['sub'])
    if (subject === null) return null
    return {
      issuer: given === shortIssuer ? issuer : given,
      subject,
      email: emailOf(claims),
      emailVerified: isTrue(claims['email_verified']),
      hostedDomain: typeof claims['hd'] === 'string' ? claims['hd'] : null,
      name: displayName(claims['name']),
    }
  },
}
