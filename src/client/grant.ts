import type { Answer, Json } from './exchange.js'

/** What a refresh, a login and `GET /session` give alike. */
export interface Grant {
  readonly accessToken: string
  /** Seconds. */
  readonly expiresIn: number
}

/** The access token in a reply; null where there is none that can be read. */
export function grantOf({ ok, body }: Pick<Answer, 'ok' | 'body'>): Grant | null {
  const { accessToken, expiresIn }: Json = body ?? {}
  const isGrant = ok && typeof accessToken === 'string' && typeof expiresIn === 'number'
  return isGrant ? { accessToken, expiresIn } : null
}

/** The id of the user that an access token was minted for; null where it cannot be read. */
export function subjectOf(accessToken: string): string | null {
  try {
    const [, payload = ''] = accessToken.split('.')
    const { sub }: { readonly sub?: string } = JSON.parse(
      atob(payload.replaceAll('-', '+').replaceAll('_', '/')),
    )
    return sub ?? null
  } catch {
    return null
  }
}
