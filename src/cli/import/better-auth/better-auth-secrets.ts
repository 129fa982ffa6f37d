import { createDecipheriv, createHash } from 'node:crypto'
import type { Call } from '../../frame/command.js'
import { Refusal } from '../../frame/refusal.js'

/** Reads what better-auth encrypted. */
export interface BetterAuthSecrets {
  /** Null for what none of the secrets opens. */
  decrypt(text: string): string | null
}

/**
 * With the secrets that better-auth itself reads: `BETTER_AUTH_SECRET`, and `BETTER_AUTH_SECRETS` as `2:new,1:old`. Null
 * where there is neither. Throws `Refusal` for a list of another form.
 */
export function betterAuthSecrets({ env }: Pick<Call, 'env'>): BetterAuthSecrets | null {
  const plain = env['BETTER_AUTH_SECRET'] ?? ''
  const versions = versionsOf(env['BETTER_AUTH_SECRETS'] ?? '')
  if (plain === '' && versions.size === 0) return null
  return {
    decrypt(text) {
      const [, version, cipher = ''] = /^\$ba\$(\d{1,9})\$([0-9a-f]+)$/.exec(text) ?? []
      const secret = version === undefined ? plain : (versions.get(Number(version)) ?? '')
      return secret === '' ? null : decryptBetterAuth(secret, version === undefined ? text : cipher)
    },
  }
}

function versionsOf(list: string): ReadonlyMap<number, string> {
  const entries = list === '' ? [] : list.split(',').map((entry) => entry.trim())
  return new Map(
    entries.map((entry) => {
      const [, version, secret = ''] = /^(\d{1,9}):(.+)$/.exec(entry) ?? []
      if (version !== undefined) return [Number(version), secret.trim()]
      throw new Refusal(
        'BETTER_AUTH_SECRETS must be as better-auth reads it: 2:secret,1:secret.',
        2,
      )
    }),
  )
}

const nonceBytes = 24
const tagBytes = 16
const columns = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
] as const
const diagonals = [
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const

/**
 * What better-auth encrypted with its secret: XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03 §2) in hexadecimal, nonce,
 * cipher text and tag in a row. Null for another secret and for every other text.
 */
export function decryptBetterAuth(secret: string, hex: string): string | null {
  if (hex.length <= 2 * (nonceBytes + tagBytes) || !/^(?:[0-9a-f]{2})+$/.test(hex)) return null
  const bytes = Buffer.from(hex, 'hex')
  const nonce = bytes.subarray(0, nonceBytes)
  const sealed = bytes.subarray(nonceBytes, -tagBytes)
  const key = hchacha20(createHash('sha256').update(secret).digest(), nonce.subarray(0, 16))
  const shortNonce = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)])
  const cipher = createDecipheriv('chacha20-poly1305', key, shortNonce, { authTagLength: tagBytes })
  cipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    return Buffer.concat([cipher.update(sealed), cipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

/** The key of a nonce (§2.2), which Node's own ChaCha20 does not derive. */
export function hchacha20(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const state = new Uint32Array(16)
  const input = Buffer.concat([Buffer.from('expand 32-byte k'), key, nonce])
  for (let n = 0; n < 16; n += 1) state[n] = input.readUInt32LE(n * 4)
  for (let round = 0; round < 10; round += 1) {
    for (const places of columns) quarterRound(state, places)
    for (const places of diagonals) quarterRound(state, places)
  }
  const output = Buffer.alloc(32)
  for (const [n, place] of [0, 1, 2, 3, 12, 13, 14, 15].entries()) {
    output.writeUInt32LE(state[place] ?? 0, n * 4)
  }
  return output
}

type Places = readonly [number, number, number, number]

/** RFC 8439 §2.1. */
function quarterRound(state: Uint32Array, [a, b, c, d]: Places): void {
  const step = (sum: number, addend: number, mixed: number, bits: number) => {
    state[sum] = (state[sum] ?? 0) + (state[addend] ?? 0)
    const word = (state[mixed] ?? 0) ^ (state[sum] ?? 0)
    state[mixed] = (word << bits) | (word >>> (32 - bits))
  }
  step(a, b, d, 16)
  step(c, d, b, 12)
  step(a, b, d, 8)
  step(c, d, b, 7)
}
