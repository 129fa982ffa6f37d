import { loadPart } from '../errors/index.js'

/**
 * Makes a private key for `keys.current` or `keys.next`: RSA-3072 in PKCS#8 PEM. Store it with your
 * other secrets; the library stores no private keys. Takes up to a second in another thread.
 */
export async function generateSigningKey(): Promise<string> {
  const { exportPKCS8, generateKeyPair } = await loadPart(
    'key generation',
    () => import('./key-library.js'),
  )
  const { privateKey } = await generateKeyPair('RS256', { modulusLength: 3072, extractable: true })
  return exportPKCS8(privateKey)
}
