import type { RefreshClaims } from '../../crypto/verify-token.js'
import type { Tokens } from './tokens.js'

/** More cookies of one name than a browser's own deployments leave behind. */
const mostTokens = 10

interface Genuine {
  readonly token: string
  readonly claims: RefreshClaims
}

/**
 * Of several refresh cookies of one name, the one to go by. A wider `cookieDomain` leaves an older one
 * behind, of the same person: the newest counts. One that a page of another subdomain planted is of
 * another person, who would have the browser act in their session: then none counts (RFC 6265bis §8.6).
 * What was not minted here proves nothing; what has expired still shows that there was somebody else.
 */
export async function chooseToken(
  tokens: Tokens,
  shown: readonly string[],
): Promise<string | null> {
  const genuine: Genuine[] = []
  let unknown: string | null = null
  for (const token of new Set(shown.slice(0, mostTokens))) {
    const verified = await tokens.verifyRefresh(token)
    if (verified.ok || verified.reason === 'expired') {
      genuine.push({ token, claims: verified.claims })
    } else if (verified.reason === 'unknownKey') unknown = token
  }
  // Of a key that was looked for and is not there: alone, it is refused as such, and stays.
  if (unknown !== null && genuine.length === 0) return unknown
  const people = new Set(genuine.map(({ claims }) => claims.sub))
  if (people.size > 1) return null
  const [newest] = genuine.toSorted((a, b) => compare(b.claims, a.claims))
  return newest?.token ?? shown[0] ?? null
}

/** By login, then by generation: of one session the retired token must not be taken for misuse. */
function compare(a: RefreshClaims, b: RefreshClaims): number {
  if (a.authTime !== b.authTime) return a.authTime - b.authTime
  if (a.sid !== b.sid) return a.sid < b.sid ? -1 : 1
  return a.gen - b.gen
}
