import { createHash, randomBytes } from 'node:crypto'
import type { Account } from '../provider-stub/account.js'

/** What somebody agreed to. */
export interface Grant {
  readonly account: Account
  readonly redirectUri: string
  readonly challenge: string
  readonly state: string
  readonly nonce: string
}

/** Codes that are good once, with what they were asked for (RFC 6749 §4.1.2, RFC 7636 §4.6). */
export interface AuthorizationCodes {
  issue(grant: Grant): string
  /** Null for any other request; one code shown twice makes its tokens void as well. */
  redeem(form: URLSearchParams): { readonly grant: Grant; readonly accessToken: string } | null
  /** Whose access token it is. */
  holderOf(accessToken: string): Account | null
  readonly issued: readonly string[]
}

export function authorizationCodes(): AuthorizationCodes {
  const issued: string[] = []
  const waiting = new Map<string, Grant>()
  const holders = new Map<string, Account>()
  const tokenOf = new Map<string, string>()

  return {
    issued,
    issue(grant) {
      const code = randomBytes(24).toString('base64url')
      issued.push(code)
      waiting.set(code, grant)
      return code
    },
    redeem(form) {
      const code = form.get('code') ?? ''
      const grant = waiting.get(code)
      waiting.delete(code)
      if (grant === undefined) {
        holders.delete(tokenOf.get(code) ?? '')
        return null
      }
      const verifier = form.get('code_verifier') ?? ''
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      const isGood =
        form.get('grant_type') === 'authorization_code' &&
        form.get('redirect_uri') === grant.redirectUri &&
        /^[\w.~-]{43,128}$/.test(verifier) &&
        challenge === grant.challenge
      if (!isGood) return null
      const accessToken = randomBytes(24).toString('base64url')
      holders.set(accessToken, grant.account)
      tokenOf.set(code, accessToken)
      return { grant, accessToken }
    },
    holderOf: (accessToken) => holders.get(accessToken) ?? null,
  }
}
