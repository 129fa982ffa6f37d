import { loadPart } from '../errors/index.js'

// Loaded by the first authenticator app.
const library = () => loadPart('otplib', () => import('otplib'))

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

/** When a code is shown, and which ones are good then. */
export interface TotpMoment {
  /** Epoch milliseconds. */
  readonly now: number
  /** Steps on each side of the present one whose codes are good as well. */
  readonly skewSteps: number
  /** The latest step whose code was used; 0 for none. */
  readonly lastStep: number
}

/**
 * The first time step after `lastStep` that a code belongs to, of those that are good; null for a code that is
 * wrong, used or malformed. Two steps beside each other share a code once in a million times: it is good for either.
 * Six ASCII digits and nothing else. RFC 6238 as every authenticator app takes it: SHA-1, six digits, steps of
 * thirty seconds.
 */
export async function matchTotp(
  secret: string,
  code: string,
  { now, skewSteps, lastStep }: TotpMoment,
): Promise<number | null> {
  if (!/^[0-9]{6}$/.test(code)) return null
  const epoch = Math.floor(now / 1000)
  if (lastStep >= Math.floor(epoch / 30) + skewSteps) return null
  const { NobleCryptoPlugin, ScureBase32Plugin, TOTP } = await library()
  const totp = new TOTP({
    crypto: new NobleCryptoPlugin(),
    base32: new ScureBase32Plugin(),
    algorithm: 'sha1',
    digits: 6,
    period: 30,
  })
  const window = { epoch, epochTolerance: skewSteps * 30, afterTimeStep: lastStep }
  const result = await totp.verify(code, { secret, ...window })
  return result.valid ? result.timeStep : null
}
