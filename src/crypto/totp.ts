import { loadPart } from '../errors/index.js'

// Loaded by the first authenticator app. By name, so that a host's bundler leaves the rest of it out.
const library = () => loadPart('TOTP', () => import('./totp-library.js'))

/** Twenty random bytes as a secret to be typed or scanned: base32 (RFC 4226 §4, R6). */
export async function totpSecret(bytes: Uint8Array): Promise<string> {
  const { ScureBase32Plugin } = await library()
  return new ScureBase32Plugin().encode(bytes, { padding: false })
}

/** For a QR code: `otpauth://totp/…`. */
export async function otpauthUri(secret: string, issuer: string, account: string): Promise<string> {
  const { generateURI } = await library()
  // A colon separates issuer and account in the label, and is not encoded there.
  return generateURI({ issuer: issuer.replaceAll(':', ' '), label: account, secret })
}

/**
 * The time step a code belongs to, of the current step and `skewSteps` on each side; null for a
 * wrong or malformed code. Six ASCII digits and nothing else. RFC 6238 as every authenticator app
 * takes it: SHA-1, six digits, steps of thirty seconds.
 *
 * @param now epoch milliseconds
 */
export async function matchTotp(
  secret: string,
  code: string,
  now: number,
  skewSteps: number,
): Promise<number | null> {
  if (!/^[0-9]{6}$/.test(code)) return null
  const { NobleCryptoPlugin, ScureBase32Plugin, TOTP } = await library()
  const totp = new TOTP({
    crypto: new NobleCryptoPlugin(),
    base32: new ScureBase32Plugin(),
    algorithm: 'sha1',
    digits: 6,
    period: 30,
  })
  const epoch = Math.floor(now / 1000)
  const result = await totp.verify(code, { secret, epoch, epochTolerance: skewSteps * 30 })
  return result.valid ? result.timeStep : null
}
