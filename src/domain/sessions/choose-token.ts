import type { RefreshClaims } from '../../crypto/tokens.js'
import type { Tokens } from './tokens.js'

/** More than fit into the headers that Node reads; each costs a verification. */
const mostTokens = 48
/** A signature of RS256 alone is longer. */
const shortestToken = 300

interface Genuine {
  readonly token: string
  readonly claims: RefreshClaims
  readonly isExpired: boolean
  readonly isEarly: boolean
}

interface Sorted {
  readonly genuine: readonly Genuine[]
  /** A token of a key that was looked for and is not there, so that nothing in it can be believed; or null. */
  readonly unknown: string | null
  /** A token of a key that is still looked for, and the error that says so; or null. */
  readonly undecided: { readonly token: string; readonly error: unknown } | null
}

/** Tells what was minted here from what proves nothing. */
async function sorted(tokens: Tokens, shown: readonly string[]): Promise<Sorted> {
  const genuine: Genuine[] = []
  let unknown: Sorted['unknown'] = null
  let undecided: Sorted['undecided'] = null
  // Copies and what is too short for a token are passed over, so that they push none aside.
  const different = [...new Set(shown)].filter(({ length }) => length > shortestToken)
  for (const token of different.slice(0, mostTokens)) {
    const verified = await tokens.verifyRefresh(token).catch((error: unknown) => {
      undecided = { token, error }
      return null
    })
    if (verified === null) continue
    if ('claims' in verified) {
      const { ok, claims } = verified
      const isExpired = !ok && verified.reason === 'expired'
      genuine.push({ token, claims, isExpired, isEarly: !ok && !isExpired })
    } else if (verified.reason === 'unknownKey') unknown = token
  }
  return { genuine, unknown, undecided }
}

/**
 * The one to go by among several refresh cookies of one name. A wider `cookieDomain` leaves an older one
 * behind, of the same person: the newest counts. One that a page of another subdomain planted is of
 * another person, who would have the browser act in their session: then none counts (RFC 6265bis §8.6).
 * What was not minted here proves nothing; what has expired still shows that there was another person.
 */
export async function chooseToken(
  tokens: Tokens,
  shown: readonly string[],
): Promise<string | null> {
  const { genuine, unknown, undecided } = await sorted(tokens, shown)
  // Beside a good token, one of a key that is still looked for decides nothing.
  if (genuine.length === 0 && undecided !== null) throw undecided.error
  // A token of a key that was looked for and is not there: alone, it is refused as such, and stays.
  if (unknown !== null && genuine.length === 0) return unknown
  const people = new Set(genuine.map(({ claims }) => claims.sub))
  if (people.size > 1) return null
  return preferred(genuine)?.token ?? shown[0] ?? null
}

/**
 * The same for a logout, which goes by the newest of each person. A planted token must not keep the
 * browser's own session alive, and the end of the session that it belongs to harms its maker alone.
 */
export async function tokensToEnd(
  tokens: Tokens,
  shown: readonly string[],
): Promise<readonly string[]> {
  if (shown.length < 2) return shown
  const { genuine, unknown, undecided } = await sorted(tokens, shown)
  const usable = genuine.filter(({ isExpired }) => !isExpired)
  const people = [...new Set(usable.map(({ claims }) => claims.sub))]
  const toEnd = people.flatMap((sub) => {
    const own = usable.filter(({ claims }) => claims.sub === sub)
    // One of the future would open its session once its time has come.
    return [preferred(own), preferred(own.filter(({ isEarly }) => isEarly))]
  })
  const found = new Set(toEnd.flatMap((one) => (one === null ? [] : [one.token])))
  if (found.size > 0) return [...found]
  return [undecided?.token ?? unknown ?? shown[0] ?? ''].filter((token) => token !== '')
}

/**
 * Picks the newest token of one person. A token issued in the future, by a wrong clock, is picked only where no other is
 * good: it will be good later. A retired token never goes before a newer one of its session.
 */
function preferred(tokens: readonly Genuine[]): Genuine | null {
  const newestFirst = tokens.toSorted((a, b) => compare(b.claims, a.claims))
  const unretired = newestFirst.filter(
    ({ claims: { sid } }, index) =>
      newestFirst.findIndex((one) => one.claims.sid === sid) === index,
  )
  const inTime = unretired.find(({ isEarly }) => !isEarly)
  const early = unretired.find(({ isEarly }) => isEarly)
  if (inTime?.isExpired === true) return early ?? inTime
  return inTime ?? early ?? null
}

/** By login, then by generation: a retired token beside a newer one of its session must not be taken for misuse. */
function compare(a: RefreshClaims, b: RefreshClaims): number {
  if (a.authTime !== b.authTime) return a.authTime - b.authTime
  if (a.sid !== b.sid) return a.sid < b.sid ? -1 : 1
  return a.gen - b.gen
}
