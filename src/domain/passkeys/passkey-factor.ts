import type { ShownSecond } from '../login/first-factor.js'

/**
 * A passkey as the factor of a login. `pop` is a proof of possession of a key; without an attestation,
 * a server cannot tell hardware from software. `user` says that a person was present (RFC 8176 and its
 * registry). Only a passkey that verified its owner is a proof for a step-up.
 */
export function passkeyFactor(userVerified: boolean): ShownSecond {
  return { method: 'webauthn', amr: ['pop', 'user'], isProof: userVerified }
}
