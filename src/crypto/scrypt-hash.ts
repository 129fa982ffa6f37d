import { scrypt, timingSafeEqual } from 'node:crypto'
import {
  fromBase64,
  fromHex,
  partsOf,
  type ReadHash,
  type SaltAndTag,
  saltAndTag,
  textBytes,
} from './hash-text.js'

/** The costs of one scrypt hash (RFC 7914 §2). */
export interface ScryptCosts {
  /** N: a power of two. */
  readonly cost: number
  readonly blockSize: number
  readonly parallelization: number
}

export interface ScryptHash extends ScryptCosts, SaltAndTag {}

/** 128 MiB, which is as much as OWASP recommends for N = 2^17 and r = 8. */
const mostMemory = 128 * 1024 * 1024
/** Twice the time of those costs. */
const mostWork = 2 ** 21

const phc = /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d{0,5}),p=([1-9]\d{0,5})\$([^$]+)\$([^$]+)$/
const django =
  /^scrypt\$([1-9]\d{0,9})\$([!-#%-~]+)\$([1-9]\d{0,5})\$([1-9]\d{0,5})\$([A-Za-z0-9+/]+={0,2})$/
const werkzeug = /^scrypt:([1-9]\d{0,9}):([1-9]\d{0,5}):([1-9]\d{0,5})\$([!-#%-~]+)\$([0-9a-f]+)$/

/**
 * A scrypt hash as PHC string (`$scrypt$ln=…,r=…,p=…$salt$tag`), or as Django or Werkzeug writes it.
 * `tooCostly` beyond 128 MiB of memory, or twice the time of N = 2^17, r = 8, p = 1. Never throws.
 */
export function readScryptHash(text: string): ReadHash<ScryptHash> {
  const [logCost = '', r = '', p = '', salt = '', tag = ''] = partsOf(phc, text) ?? []
  if (logCost !== '') {
    return bounded(2 ** Number(logCost), r, p, saltAndTag(fromBase64(salt), fromBase64(tag)))
  }
  const [cost = '', typed = '', size = '', lanes = '', key = ''] = partsOf(django, text) ?? []
  if (cost !== '') {
    return bounded(Number(cost), size, lanes, saltAndTag(textBytes(typed), fromBase64(key)))
  }
  const [n = '', block = '', parallel = '', own = '', hex = ''] = partsOf(werkzeug, text) ?? []
  if (n === '') return null
  return bounded(Number(n), block, parallel, saltAndTag(textBytes(own), fromHex(hex)))
}

function bounded(
  cost: number,
  size: string,
  lanes: string,
  bytes: SaltAndTag | null,
): ReadHash<ScryptHash> {
  if (bytes === null || cost < 2 || !Number.isInteger(Math.log2(cost))) return null
  const costs = { cost, blockSize: Number(size), parallelization: Number(lanes) }
  if (!isAffordable(costs)) return 'tooCostly'
  // RFC 7914 §2. No password could be checked against it.
  return Math.log2(cost) < 16 * costs.blockSize ? { ...costs, ...bytes } : null
}

function isAffordable(costs: ScryptCosts): boolean {
  const { cost, blockSize, parallelization } = costs
  return memoryOf(costs) <= mostMemory && cost * blockSize * parallelization <= mostWork
}

/** The bytes of the large vector, which one hash after the other fills. */
function memoryOf({ cost, blockSize }: ScryptCosts): number {
  return 128 * cost * blockSize
}

/** On the thread pool. */
export function deriveScrypt(
  password: Uint8Array,
  salt: Uint8Array,
  length: number,
  costs: ScryptCosts,
): Promise<Buffer> {
  const { cost, blockSize, parallelization } = costs
  // The other two vectors, of one block for each lane, and of two blocks.
  const maxmem = memoryOf(costs) + 128 * blockSize * (parallelization + 4)
  const options = { cost, blockSize, parallelization, maxmem }
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, options, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

export async function verifyScrypt(hash: ScryptHash, password: Uint8Array): Promise<boolean> {
  const key = await deriveScrypt(password, hash.salt, hash.tag.length, hash)
  return timingSafeEqual(key, hash.tag)
}
