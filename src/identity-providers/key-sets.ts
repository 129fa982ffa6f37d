import { createLocalJWKSet, type JWK_RSA_Public, type JWTVerifyGetKey } from 'jose'
import type { Clock } from '../ports/host.js'
import type { Outbound } from './outbound.js'
import type { Claims } from './provider.js'
import { ProviderError } from './provider-error.js'

/** One key of a provider's. */
export interface PublishedKey {
  /** The members of its entry. */
  readonly entry: Claims
  /** Gives the key where it is for the algorithm of a token, and else rejects. */
  readonly keyFor: JWTVerifyGetKey
}

/** A provider's public keys, as last read. */
export interface KeySet {
  /** The published keys of this id. Providers should not give an id twice, and some do (RFC 7517 §4.5). */
  published(kid: string): readonly PublishedKey[]
}

/**
 * Public keys by address: read when first needed, kept for an hour, and for a day while the provider
 * cannot be reached. Never more than a few sets.
 */
export interface KeySets {
  /**
   * The keys at `url`, read again when `kid` is not among them, at most once a minute: tokens with
   * made-up key ids cause no more than that. Rejects when there are none to be had.
   */
  read(url: string, kid: string): Promise<KeySet>
}

interface Deps {
  readonly outbound: Outbound
  readonly clock: Clock
}

interface Entry extends KeySet {
  readonly readAt: number
}

const freshMs = 60 * 60 * 1000
/**
 * A provider takes a stolen key out of its set. A thief who keeps this process from reading the set must
 * not keep the key in use.
 */
const longestMs = 24 * 60 * 60 * 1000
const coolDownMs = 60 * 1000
/** One address a provider, and a few more while tenants are tried out. */
const maxSets = 16

export function createKeySets({ outbound, clock }: Deps): KeySets {
  const entries = new Map<string, Entry>()
  const underway = new Map<string, Promise<Entry>>()

  async function fetchSet(url: string): Promise<Entry> {
    const response = await outbound(url, {
      method: 'GET',
      headers: { accept: 'application/json' },
      body: null,
    })
    if (response.status !== 200) throw new ProviderError('the keys of a provider cannot be read')
    const entry = { ...keySetOf(await response.json()), readAt: clock.now() }
    entries.delete(url)
    entries.set(url, entry)
    const [oldest] = entries.keys()
    if (entries.size > maxSets && oldest !== undefined) entries.delete(oldest)
    return entry
  }

  /** Sign-ins that need the same keys at once share one request. */
  function refresh(url: string): Promise<Entry> {
    const running = underway.get(url)
    if (running !== undefined) return running
    const started = fetchSet(url).finally(() => underway.delete(url))
    underway.set(url, started)
    return started
  }

  return {
    async read(url, kid) {
      const known = entries.get(url)
      if (known === undefined) return refresh(url)
      // A clock that was set back tells nothing about how old they are.
      const since = clock.now() - known.readAt
      const age = since < 0 ? Number.POSITIVE_INFINITY : since
      const isKnown = known.published(kid).length > 0
      if (age < (isKnown ? freshMs : coolDownMs)) return known
      // While a provider cannot be reached, the keys at hand still tell good tokens from bad.
      return isKnown && age < longestMs ? refresh(url).catch(() => known) : refresh(url)
    },
  }
}

/** An entry that is no key for RS256 leaves the others as they are (RFC 7517 §5). */
function keySetOf(body: unknown): KeySet {
  const entries = typeof body === 'object' && body !== null && 'keys' in body ? body.keys : null
  if (!Array.isArray(entries)) throw new ProviderError('a provider published no usable keys')
  const keys = entries
    .filter(isRsaKey)
    .map((entry) => ({ entry, keyFor: createLocalJWKSet({ keys: [entry] }) }))
  return { published: (kid) => keys.filter(({ entry }) => entry.kid === kid) }
}

interface RsaKey extends JWK_RSA_Public, Claims {
  readonly kid: string
}

function isRsaKey(entry: unknown): entry is RsaKey {
  if (typeof entry !== 'object' || entry === null) return false
  const { kty, kid, n, e, use = 'sig' }: Claims = { ...entry }
  const isNamed = typeof kid === 'string' && kid !== ''
  return isNamed && kty === 'RSA' && typeof n === 'string' && typeof e === 'string' && use === 'sig'
}
