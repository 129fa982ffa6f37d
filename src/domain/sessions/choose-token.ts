import type { RefreshClaims } from '../../crypto/verify-token.js'
import type { Tokens } from './tokens.js'

/** More than fit into the headers that Node reads; each costs a verification. */
const mostTokens = 48
/** A signature of RS256 alone is longer. */
const shortestToken = 300

interface Genuine {
  readonly token: string
  readonly claims: RefreshClaims
}

/**
 * Of several refresh cookies of one name, the one to go by. A wider `cookieDomain` leaves an older one
 * behind, of the same person: the newest counts. One that a page of another subdomain planted is of
 * another person, who would have the browser act in their session: then none counts (RFC 6265bis §8.6).
 * What was not minted here proves nothing; what has expired still shows that there was another person.
 */
export async function chooseToken(
  tokens: Tokens,
  shown: readonly string[],
): Promise<string | null> {
  const genuine: Genuine[] = []
  let unknown: string | null = null
  let failure: unknown = null
  // Copies and what is too short for a token are passed over, so that they push none aside.
  const different = [...new Set(shown)].filter(({ length }) => length > shortestToken)
  for (const token of different.slice(0, mostTokens)) {
    const verified = await tokens.verifyRefresh(token).catch((error: unknown) => {
      // A key that is still looked for: beside a good token, this one decides nothing.
      failure = error
      return null
    })
    if (verified === null) continue
    if (verified.ok || verified.reason === 'expired') {
      genuine.push({ token, claims: verified.claims })
    } else if (verified.reason === 'unknownKey') unknown = token
  }
  // Of a key that was looked for and is not there: alone, it is refused as such, and stays.
  if (genuine.length === 0 && failure !== null) throw failure
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
