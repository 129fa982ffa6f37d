import { decodeJwt } from 'jose'
import { type Forgery, forgeries, isForgery } from './forgeries.js'
import type { SigningKeys } from './signing-keys.js'

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

interface Signer {
  /** Null of a provider without ID tokens. */
  readonly keys: SigningKeys | null
  readonly clientId: string
  readonly clientSecret: string
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
