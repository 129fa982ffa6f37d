import type { ShownSecond } from '../login/first-factor.js'

/**
 * A passkey as the factor of a login. `pop` is a proof of possession of a key, hardware or not, which
 * nobody can tell without an attestation; `user`, that somebody was there (RFC 8176 and its registry).
 * Only one that verified its owner is a proof for a step-up.
 */
export function passkeyFactor(userVerified: boolean): ShownSecond {
  return { method: 'webauthn', amr: ['pop', 'user'], isProof: userVerified }
}
