import { type Assertion, type AssertionResponse, verifyAssertion } from '../../crypto/webauthn.js'
import { isRegressed } from '../../engine/factors.js'
import type { Passkey } from '../../model/factors.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { userHandleOf } from './user-handle.js'

/** What has to hold of an assertion beside its signature. */
export interface AssertionTerms {
  readonly challenge: string
  /** Whether the authenticator must have verified the person: PIN, fingerprint, face. */
  readonly userVerification: 'preferred' | 'required'
  /** Whether another factor was shown before, so that a first verification of the person counts. */
  readonly besideFactor: boolean
}

export interface PasskeyAssertions {
  /** The passkey that a response names, of any user. */
  find(credentialId: string): Promise<Passkey | null>
  /** Verifies the signature over the challenge. Null, without a reason, for whatever is wrong. */
  verify(
    passkey: Passkey,
    response: AssertionResponse,
    terms: AssertionTerms,
  ): Promise<VerifiedAssertion | null>
  /**
   * Notes the use of a passkey, once. Null when the counter went back, which is an event, and when the
   * person was not verified as the terms ask. Else whether the person was verified.
   */
  note(
    verified: VerifiedAssertion,
    source: RequestSource,
  ): Promise<{ readonly userVerified: boolean } | null>
}

/** An assertion with the right signature, which is not noted yet. */
export interface VerifiedAssertion {
  readonly passkey: Passkey
  readonly use: Use
  readonly isEnough: boolean
}

/** An assertion that was verified, and the challenge it answers. */
interface Use extends Assertion {
  readonly challenge: string
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'emit' | 'relyingParty'>

/** Uses that race each other move the counter. */
const tries = 8

export function createPasskeyAssertions(deps: Deps): PasskeyAssertions {
  const { clock, relyingParty } = deps
  const { passkeys } = deps.collections

  const read = (credentialId: string) => passkeys.get(credentialId)

  function emitRegression(seen: Passkey, use: Use, source: RequestSource): void {
    const { userId, id: credentialId, counter: storedCounter } = seen
    const facts = { userId, credentialId, storedCounter, shownCounter: use.counter }
    deps.emit('mfa.passkeyCounterRegressed', source, facts)
  }

  function emitBackupChange(seen: Passkey, { backedUp }: Use, source: RequestSource): void {
    if (seen.backedUp === backedUp) return
    const { userId, id: credentialId } = seen
    deps.emit('mfa.passkeyBackupChanged', source, { userId, credentialId, backedUp })
  }

  /** Whether this use was the next one after those seen; false too when another came between. */
  async function advance(seen: Passkey, use: Use): Promise<boolean> {
    const { id, counter, userId, publicKey } = seen
    const noted = await passkeys.update(
      id,
      { counter, userId, publicKey },
      {
        counter: use.counter,
        backedUp: use.backedUp,
        // The use of a factor cancels its removal, which then has to start over.
        removingBy: null,
        lastUsedAt: clock.now(),
        lastChallenge: use.challenge,
        ...(use.userVerified ? { uvInitialized: true } : {}),
      },
    )
    return noted !== null
  }

  /** False when the counter went back, or the passkey was removed. */
  async function noteUse(passkey: Passkey, use: Use, source: RequestSource): Promise<boolean> {
    let seen: Passkey | null = passkey
    return retryOnConflict(tries, async () => {
      // Removed meanwhile, perhaps registered again: by then it opens another account, or has another key.
      if (seen?.publicKey !== passkey.publicKey || seen.userId !== passkey.userId) return false
      // Noted already: the store carried the write out and said otherwise.
      if (seen.lastChallenge === use.challenge) return true
      if (isRegressed(seen.counter, use.counter)) {
        emitRegression(seen, use, source)
        return false
      }
      if (await advance(seen, use)) {
        emitBackupChange(seen, use, source)
        return true
      }
      seen = await read(passkey.id)
      return conflict
    })
  }

  return {
    find: read,

    async verify(passkey, response, terms) {
      const { userHandle } = response.response
      if (userHandle && userHandle !== userHandleOf(passkey.userId)) return null
      const { challenge, userVerification, besideFactor } = terms
      const requireUserVerification = userVerification === 'required'
      const expected = { ...relyingParty, challenge, requireUserVerification }
      const shown = await verifyAssertion(response, expected, passkey)
      if (shown === null || shown.backupEligible !== passkey.backupEligible) return null
      const userVerified = shown.userVerified && (besideFactor || passkey.uvInitialized)
      const isEnough = userVerified || !requireUserVerification
      return { passkey, use: { ...shown, userVerified, challenge }, isEnough }
    },

    async note({ passkey, use, isEnough }, source) {
      if (!isEnough || !(await noteUse(passkey, use, source))) return null
      return { userVerified: use.userVerified }
    },
  }
}
