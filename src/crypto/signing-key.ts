import { exportPKCS8, generateKeyPair } from 'jose'

/**
 * A new private key for `keys.current` or `keys.next`: RSA-3072 in PKCS#8 PEM. Keep it where
 * secrets are kept; the library stores no private keys. Takes up to a second of another thread.
 */
export async function generateSigningKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('RS256', { modulusLength: 3072, extractable: true })
  return exportPKCS8(privateKey)
}
