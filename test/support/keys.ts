import { generateKeyPair, generateKeyPairSync, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { ConfigKey } from '../../src/crypto/secret-box.js'

/** Where a test file is run hundreds of times, one key does for all: making one takes longer than the tests. */
const given = process.env['TEST_SIGNING_KEY']

let generated: Promise<string> | undefined
let small: string | undefined

/**
 * One signing key for a test file. Of the least size that is accepted: suites sign tens of
 * thousands of tokens, and a signature of the recommended size takes four times as long.
 */
export function testSigningKey(): Promise<string> {
  if (given !== undefined) return Promise.resolve(given)
  generated ??= promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).then(({ privateKey }) => privateKey)
  return generated
}

/** One key for the secrets of the configuration, for a test file: instances share stores. */
export const testConfigKeys: readonly ConfigKey[] = [configKey('test')]

export function configKey(id: string): ConfigKey {
  return { id, key: randomBytes(32).toString('base64') }
}

/** The smallest key that is accepted: it signs three times as fast, where thousands are signed. */
export function smallSigningKey(): string {
  small ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey
  return small
}
