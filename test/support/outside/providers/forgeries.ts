import type { JWTPayload } from 'jose'
import type { SigningKeys } from './signing-keys.js'

interface Signer {
  readonly keys: SigningKeys
  /** What the host is registered with. */
  readonly clientId: string
  readonly clientSecret: string
}

type Forge = (claims: JWTPayload, signer: Signer) => Promise<string>

const elsewhere = 'somebody-elses-client'

/** Signed as always, with these claims in place of the honest ones. */
const claiming =
  (change: (claims: JWTPayload, clientId: string) => Record<string, unknown>): Forge =>
  (claims, { keys, clientId }) =>
    keys.sign({ ...claims, ...change(claims, clientId) })

const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** ID tokens that are wrong in one way each (OpenID Connect Core §3.1.3.7, RFC 8725 §2). */
export const forgeries = {
  'an ID token of another issuer': claiming(() => ({ iss: 'https://evil.example' })),
  'an ID token of an issuer with one character more': claiming(({ iss }) => ({ iss: `${iss}/` })),
  'an ID token for another client': claiming(() => ({ aud: elsewhere })),
  'an ID token for two clients': claiming((_claims, clientId) => ({ aud: [clientId, elsewhere] })),
  'an ID token handed to another client': claiming(() => ({ azp: elsewhere })),
  'an ID token of another sign-in': claiming(() => ({ nonce: 'another-nonce' })),
  'an ID token without a nonce': claiming(() => ({ nonce: undefined })),
  'an ID token that has expired': claiming(({ iat = 0 }) => ({
    iat: iat - 7200,
    exp: iat - 3600,
  })),
  'an ID token of tomorrow': claiming(({ iat = 0 }) => ({ iat: iat + 86_400, exp: iat + 90_000 })),
  'an ID token without an end': claiming(() => ({ exp: undefined })),
  'an ID token of nobody': claiming(() => ({ sub: undefined })),
  'an ID token nobody signed': async (claims, { keys: { kid } }) =>
    `${segment({ alg: 'none', kid })}.${segment(claims)}.`,
  'an ID token signed with the client secret': (claims, { keys, clientSecret }) =>
    keys.signHs256(claims, clientSecret.padEnd(32, '.')),
  'an ID token signed with the public key as a secret': (claims, { keys }) =>
    keys.signHs256(claims, 'public key'),
  'an ID token signed by somebody else': (claims, { keys }) => keys.signForeign(claims),
} as const satisfies Readonly<Record<string, Forge>>

export type Forgery = keyof typeof forgeries

export const isForgery = (text: string): text is Forgery => Object.hasOwn(forgeries, text)
