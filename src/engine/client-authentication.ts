import { formDecoded } from './text.js'

/** What a token request of RFC 6749 §4.4.2 brings. */
export interface TokenRequest {
  /** The `Authorization` header; undefined without one. */
  readonly authorization: string | undefined
  /** The members of the form that mean something here; an empty text is as good as none (§3.2). */
  readonly form: {
    readonly grant_type?: string | undefined
    readonly scope?: string | undefined
    readonly client_id?: string | undefined
    readonly client_secret?: string | undefined
    readonly client_assertion?: string | undefined
  }
}

export type TokenRequestVerdict =
  | { readonly ok: true; readonly clientId: string; readonly clientSecret: string }
  | {
      readonly ok: false
      readonly code: 'invalid_request' | 'unsupported_grant_type' | 'invalid_scope'
    }

/** `Basic` and its credentials, a token68 (RFC 7617 §2). */
const basicForm = /^basic(?: +([^ ].*)?)?$/i
const base64Form = /^[A-Za-z0-9+/]*={0,2}$/

/** Whether the client authenticates, or tries to, by the header. */
export function isBasic(authorization: string | undefined): boolean {
  return basicForm.test(authorization?.trim() ?? '')
}

/**
 * The pair that a client authenticates with, by the header or by the form (§2.3.1), or what is wrong with
 * the request of any client. Credentials that are missing or cannot be read are a pair of empty texts,
 * which is no client's: their refusal is the one of every other pair.
 */
export function readTokenRequest({ authorization, form }: TokenRequest): TokenRequestVerdict {
  const { grant_type: grantType, scope, client_assertion: assertion } = form
  const { client_id: clientId = '', client_secret: clientSecret = '' } = form
  const methods = [isBasic(authorization), Boolean(clientSecret), Boolean(assertion)]
  const isAmbiguous = methods.filter(Boolean).length > 1
  if (isAmbiguous || !grantType) return { ok: false, code: 'invalid_request' }
  if (grantType !== 'client_credentials') return { ok: false, code: 'unsupported_grant_type' }
  if (scope) return { ok: false, code: 'invalid_scope' }
  if (!isBasic(authorization)) return { ok: true, clientId, clientSecret }
  const pair = readBasic(authorization ?? '')
  // A client may name itself in the form as well (§3.2.1), as long as it is one client.
  if (clientId !== '' && clientId !== pair.clientId) return { ok: false, code: 'invalid_request' }
  return { ok: true, ...pair }
}

const unreadable = { clientId: '', clientSecret: '' } as const

/** Both texts are form-encoded before they are joined (§2.3.1). */
function readBasic(authorization: string): {
  readonly clientId: string
  readonly clientSecret: string
} {
  const [, encoded = ''] = basicForm.exec(authorization.trim()) ?? []
  if (!base64Form.test(encoded)) return unreadable
  const text = utf8Of(encoded)
  const at = text?.indexOf(':') ?? -1
  if (text === null || at < 0) return unreadable
  const [clientId, clientSecret] = [formDecoded(text.slice(0, at)), formDecoded(text.slice(at + 1))]
  return clientId === null || clientSecret === null ? unreadable : { clientId, clientSecret }
}

function utf8Of(base64: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
