import { keyedHash, randomToken } from '../../crypto/secrets.js'
import { keptKeys, recognitionIds } from '../../engine/login-risk-rules.js'
import { knownLoginMs } from '../../model/sessions.js'
import type { PastLogin } from '../../ports/risk-scorers.js'
import type { SurfaceContext } from '../context/surface-context.js'

/** What a browser or app is known by at later logins. It grants nothing. */
export interface RecognitionGrant {
  /** Opaque. It may hold the ids of several accounts, the newest first, and tells them apart. */
  readonly recognitionId: string
  /** Whole seconds. */
  readonly expiresIn: number
}

/**
 * What a request brings to be known by; null without. As with refresh tokens, each counts where the
 * tokens of the login go, so that no script of a page has the cookie's value put into a body.
 */
export interface ShownRecognition {
  readonly cookie: string | null
  readonly body: string | null
}

/** What a login's recognition id says of its device, and what the device gets if the login succeeds. */
export interface Recognised {
  /** The hash of what was sent, if this account has it; null otherwise. */
  readonly known: string | null
  /** What is stored with the login; null where recognition is off. */
  readonly next: string | null
  readonly grant: RecognitionGrant | null
}

export interface Recognition {
  /**
   * `shown` is what the browser or app keeps; null without. An id that this account has is kept on. Any
   * other may have been planted: it is never taken for this account, which gets a new one. It stays
   * beside the new one all the same: it may be that of another account in the same browser, which
   * would be new there again after each login of this one.
   */
  of(userId: string, shown: string | null, history: readonly PastLogin[]): Recognised
}

type Deps = Pick<SurfaceContext, 'random' | 'recognisesDevices'>

/** 128 bits */
const idBytes = 16

const off: Recognised = { known: null, next: null, grant: null }

export function createRecognition({ random, recognisesDevices }: Deps): Recognition {
  return {
    of(userId, shown, history) {
      if (!recognisesDevices) return off
      const past = new Set(history.map(({ recognitionHash }) => recognitionHash))
      const all = recognitionIds(shown).map((id) => ({ id, hash: hashOf(userId, id) }))
      const own = all.find(({ hash }) => past.has(hash))
      const id = own?.id ?? randomToken(random, idBytes)
      const others = all.filter(({ hash }) => !past.has(hash)).map((other) => other.id)
      return {
        known: own?.hash ?? null,
        next: hashOf(userId, id),
        grant: { recognitionId: keptKeys(id, others), expiresIn: knownLoginMs / 1000 },
      }
    },
  }
}

/** The stored hashes of two accounts in one browser differ, and nothing stored connects them. */
function hashOf(userId: string, id: string): string {
  return keyedHash(id, JSON.stringify(['device', userId]))
}
