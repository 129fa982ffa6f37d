/**
 * Whether a signature counter says that the authenticator was copied (WebAuthn §6.1.1). One that
 * stays at zero is of an authenticator that keeps none, such as a synced passkey.
 */
export function isRegressed(stored: number, shown: number): boolean {
  return (stored > 0 || shown > 0) && shown <= stored
}
