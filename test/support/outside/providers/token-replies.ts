import type { Response } from 'express'
import { decodeJwt, type JWTPayload } from 'jose'
import type { SigningKeys } from './signing-keys.js'

interface Signer {
  /** Null of a provider without ID tokens. */
  readonly keys: SigningKeys | null
  /** What the host is registered with. */
  readonly clientId: string
  readonly clientSecret: string
}

type Forge = (
  claims: JWTPayload,
  signer: Signer & { readonly keys: SigningKeys },
) => Promise<string>

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

/** How a token endpoint may fail the host; `silence`: it takes the request and never answers. */
export const failures = [
  'an error',
  'an error with the status of a success',
  'ten megabytes',
  'silence',
  'a page',
  'a redirect',
  'no ID token',
] as const

export type Misbehaviour = Forgery | (typeof failures)[number]

export interface TokenReply {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** What goes over the wire; null for silence. */
interface WireReply {
  readonly status: number
  readonly type: 'json' | 'html'
  readonly text: string
  readonly location?: string
}

/** The one way out of a provider's token endpoint: honest unless told otherwise. */
export interface TokenReplies {
  misbehave(how: Misbehaviour | null): void
  /** Every secret given out so far: none of them may be found anywhere else. */
  readonly given: readonly string[]
  prepare(reply: TokenReply): Promise<WireReply | null>
}

const tenMegabytes = 10 * 1024 * 1024

export function tokenReplies({ keys, ...client }: Signer): TokenReplies {
  const given: string[] = []
  let misbehaviour: Misbehaviour | null = null

  function remember(body: Readonly<Record<string, unknown>>): void {
    for (const name of ['access_token', 'refresh_token', 'id_token']) {
      const value = body[name]
      if (typeof value === 'string') given.push(value)
    }
  }

  async function forged(how: Forgery, { status, body }: TokenReply): Promise<TokenReply> {
    const honest = body['id_token']
    if (keys === null || typeof honest !== 'string') return { status, body }
    const idToken = await forgeries[how](decodeJwt(honest), { keys, ...client })
    return { status, body: { ...body, id_token: idToken } }
  }

  return {
    misbehave(how) {
      misbehaviour = how
    },
    given,
    async prepare(honest) {
      remember(honest.body)
      if (misbehaviour === null) return json(honest)
      if (!isForgery(misbehaviour)) return failed(misbehaviour, honest)
      const reply = await forged(misbehaviour, honest)
      remember(reply.body)
      return json(reply)
    },
  }
}

function json({ status, body }: TokenReply): WireReply {
  return { status, type: 'json', text: JSON.stringify(body) }
}

/** Where it can be, the reply is a good one but for what is wrong with it. */
function failed(how: (typeof failures)[number], { status, body }: TokenReply): WireReply | null {
  const { id_token: _idToken, ...others } = body
  switch (how) {
    case 'an error':
      return json({ status: 503, body })
    case 'an error with the status of a success':
      return json({ status: 200, body: { error: 'bad_verification_code' } })
    case 'ten megabytes':
      return json({ status, body: { ...body, padding: 'x'.repeat(tenMegabytes) } })
    case 'silence':
      return null
    case 'a page':
      return { status: 200, type: 'html', text: '<p>Sign in to the network of the hotel</p>' }
    case 'a redirect':
      return { ...json({ status: 307, body }), location: 'http://127.0.0.1:9/elsewhere' }
    case 'no ID token':
      return json({ status, body: others })
  }
}

/** Null is silence: the connection stays open until the provider is closed. */
export function sendToken(response: Response, reply: WireReply | null): void {
  if (reply === null) return
  if (reply.location !== undefined) response.set('location', reply.location)
  response.status(reply.status).type(reply.type).send(reply.text)
}
