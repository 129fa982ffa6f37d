import { breachRange, rangeHolds } from '../../crypto/common-passwords.js'
import { normalizePassword } from '../../engine/passwords.js'
import type { Clock, Fetcher } from '../../ports/host.js'

export type BreachVerdict = 'clean' | 'breached' | 'unavailable'

export interface BreachCheck {
  /**
   * Whether a password is known from a breach. Only the first five hexadecimal digits of its SHA-1
   * leave the process (k-anonymity). Takes at most 1.5 s and never rejects; `unavailable` when the
   * service gave no usable answer, and for five minutes after that without asking.
   */
  check(password: string): Promise<BreachVerdict>
}

interface BreachDeps {
  readonly fetcher: Fetcher
  readonly clock: Clock
  /** The range endpoint, without the digits; must end in a slash. */
  readonly endpoint?: string
}

const publicEndpoint = 'https://api.pwnedpasswords.com/range/'
const timeoutMs = 1500
/** A padded reply is some 40 KB. */
const maxBytes = 256 * 1024
const pauseMs = 5 * 60_000

export function createBreachCheck(deps: BreachDeps): BreachCheck {
  const { fetcher, clock, endpoint = publicEndpoint } = deps
  let pausedUntil = Number.NEGATIVE_INFINITY

  async function ask(password: string): Promise<boolean | null> {
    const { prefix, suffix } = breachRange(password)
    const reply = await fetcher.fetch({
      url: endpoint + prefix,
      method: 'GET',
      // Padding hides from an onlooker, by the reply's size, which range was asked for.
      headers: { 'Add-Padding': 'true', 'User-Agent': 'postern' },
      timeoutMs,
      maxBytes,
    })
    return reply.status === 200 ? rangeHolds(reply.body, suffix) : null
  }

  return {
    async check(password) {
      if (clock.now() < pausedUntil) return 'unavailable'
      const found = await ask(normalizePassword(password) ?? password).catch(() => null)
      if (found !== null) return found ? 'breached' : 'clean'
      pausedUntil = clock.now() + pauseMs
      return 'unavailable'
    },
  }
}
