import { createCipheriv, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto'
import type { FirebaseScryptParams, LegacyHashes, LegacyVerifier } from '../ports/host.js'

/** Checks the hashes of one format, and tells those that cost too much from those of other formats. */
export type LegacyFormat = Required<LegacyVerifier>

/** The formats that the host switched on. */
export function legacyFormats(on: LegacyHashes): readonly LegacyFormat[] {
  const { bcrypt, firebaseScrypt } = on
  return [
    ...(bcrypt === undefined
      ? []
      : [format(readBcryptHash, (hash, password) => verifyBcrypt(bcrypt, hash, password))]),
    ...(on.scrypt === true ? [format(readScryptHash, verifyScrypt)] : []),
    ...(on.betterAuth === true ? [format(readBetterAuthHash, verifyBetterAuth)] : []),
    ...(on.pbkdf2 === true ? [format(readPbkdf2Hash, verifyPbkdf2)] : []),
    ...(firebaseScrypt === undefined
      ? []
      : [
          format(readFirebaseHash, (hash, password) =>
            verifyFirebase(firebaseScrypt, hash, password),
          ),
        ]),
  ]
}

export function format<T>(
  read: (text: string) => ReadHash<T>,
  check: (hash: T, password: Uint8Array) => Promise<boolean>,
): LegacyFormat {
  return {
    recognises: (text) => isAffordable(read(text)),
    isTooCostly: (text) => read(text) === 'tooCostly',
    async verify(text, password) {
      const hash = read(text)
      return isAffordable(hash) && check(hash, password)
    },
  }
}

function isAffordable<T>(hash: ReadHash<T>): hash is T {
  return hash !== null && hash !== 'tooCostly'
}

/** Longer is no hash that is known here. */
const maxLength = 512

/** A hash that may be checked, one that costs more than a login may, or null: another form. */
export type ReadHash<T> = T | 'tooCostly' | null

export interface SaltAndTag {
  readonly salt: Uint8Array
  readonly tag: Uint8Array
}

/** The parts that a form finds in a text; null for another form, and for a text without bounds. */
export function partsOf(form: RegExp, text: string): readonly string[] | null {
  const match = text.length <= maxLength ? form.exec(text) : null
  return match === null ? null : match.slice(1)
}

/**
 * Null unless a guess could not meet the tag by luck (16 to 128 bytes), and there is a salt of at most
 * 128 bytes.
 */
export function saltAndTag(salt: Uint8Array | null, tag: Uint8Array | null): SaltAndTag | null {
  if (salt === null || salt.length < 1 || salt.length > 128) return null
  return tag === null || tag.length < 16 || tag.length > 128 ? null : { salt, tag }
}

/** Where a product hashes the salt as it is written. */
export function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function fromHex(text: string): Uint8Array | null {
  return /^(?:[0-9a-f]{2})+$/.test(text) ? Buffer.from(text, 'hex') : null
}

/**
 * Base64 of every kind that products write: the standard alphabet, that of URLs and the one of passlib,
 * with padding and without. Null unless it is the one way to write these bytes.
 */
export function fromBase64(text: string): Uint8Array | null {
  const plain = text.replace(/={1,2}$/, '').replaceAll('.', '+')
  if (!/^[A-Za-z0-9+/_-]+$/.test(plain)) return null
  const bytes = Buffer.from(plain, 'base64')
  const url = plain.replaceAll('+', '-').replaceAll('/', '_')
  return bytes.toString('base64url') === url ? bytes : null
}

/** About a second. */
const mostCost = 14

const bcryptForm = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/

/**
 * A bcrypt hash as the libraries for Node read it, or null for every other text. `tooCostly` above a cost
 * of 14. Never throws.
 */
export function readBcryptHash(text: string): ReadHash<string> {
  const cost = Number(bcryptForm.exec(text)?.[1] ?? Number.NaN)
  if (!(cost >= 4)) return null
  if (cost > mostCost) return 'tooCostly'
  // PHP's name for what others call 2b, and not all libraries know it.
  return text.replace(/^\$2y\$/, '$2b$')
}

export async function verifyBcrypt(
  compare: (password: string, hash: string) => Promise<boolean>,
  hash: string,
  password: Uint8Array,
): Promise<boolean> {
  // Some libraries read no further, and would take what comes after it for right.
  if (password.includes(0)) return false
  // A mark at the beginning is part of the password, as every other character is.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(password)
  return (await compare(text, hash)) === true
}

export interface Pbkdf2Hash extends SaltAndTag {
  readonly digest: 'sha1' | 'sha256' | 'sha512'
  readonly iterations: number
}

/** Above what products use (Django 6: 1,200,000); half a second to two on a server. */
const mostIterations = 2_000_000
/** Bytes of a block. */
const blockBytes = { sha1: 20, sha256: 32, sha512: 64 } as const

const pbkdf2Phc =
  /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:i=)?([1-9]\d{0,9})(?:,l=(\d{1,3}))?\$([^$]+)\$([^$]+)$/
const pbkdf2Django = /^pbkdf2_(sha1|sha256)\$([1-9]\d{0,9})\$([!-#%-~]+)\$([A-Za-z0-9+/]+={0,2})$/
const pbkdf2Werkzeug = /^pbkdf2:(sha1|sha256|sha512):([1-9]\d{0,9})\$([!-#%-~]+)\$([0-9a-f]+)$/

/**
 * A PBKDF2 hash (RFC 8018 §5.2) as PHC string (`$pbkdf2-sha256$i=…$salt$tag`), or as passlib, Django or
 * Werkzeug writes it. `tooCostly` beyond 2,000,000 iterations, counted for each block of the digest that
 * the tag takes. Never throws.
 */
export function readPbkdf2Hash(text: string): ReadHash<Pbkdf2Hash> {
  const general = partsOf(pbkdf2Phc, text)
  if (general !== null) {
    const [digest = 'sha1', iterations = '', length, salt = '', tag = ''] = general
    const bytes = saltAndTag(fromBase64(salt), fromBase64(tag))
    if (length !== undefined && bytes?.tag.length !== Number(length)) return null
    return boundedPbkdf2(digest, iterations, bytes)
  }
  const [digest = '', iterations = '', typed = '', key = ''] = partsOf(pbkdf2Django, text) ?? []
  if (digest !== '')
    return boundedPbkdf2(digest, iterations, saltAndTag(textBytes(typed), fromBase64(key)))
  const [name = '', rounds = '', own = '', hex = ''] = partsOf(pbkdf2Werkzeug, text) ?? []
  if (name === '') return null
  return boundedPbkdf2(name, rounds, saltAndTag(textBytes(own), fromHex(hex)))
}

export function boundedPbkdf2(
  digest: string,
  iterations: string | number,
  bytes: SaltAndTag | null,
): ReadHash<Pbkdf2Hash> {
  if (bytes === null || !isDigest(digest) || Number(iterations) < 1) return null
  const blocks = Math.ceil(bytes.tag.length / blockBytes[digest])
  if (blocks * Number(iterations) > mostIterations) return 'tooCostly'
  return { digest, iterations: Number(iterations), ...bytes }
}

function isDigest(name: string): name is Pbkdf2Hash['digest'] {
  return Object.hasOwn(blockBytes, name)
}

/** On the thread pool. */
export function verifyPbkdf2(hash: Pbkdf2Hash, password: Uint8Array): Promise<boolean> {
  const { salt, tag, iterations, digest } = hash
  return new Promise((resolve, reject) => {
    pbkdf2(password, salt, iterations, tag.length, digest, (error, key) => {
      if (error === null) resolve(timingSafeEqual(key, tag))
      else reject(error)
    })
  })
}

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

const scryptPhc = /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d{0,5}),p=([1-9]\d{0,5})\$([^$]+)\$([^$]+)$/
const scryptDjango =
  /^scrypt\$([1-9]\d{0,9})\$([!-#%-~]+)\$([1-9]\d{0,5})\$([1-9]\d{0,5})\$([A-Za-z0-9+/]+={0,2})$/
const scryptWerkzeug =
  /^scrypt:([1-9]\d{0,9}):([1-9]\d{0,5}):([1-9]\d{0,5})\$([!-#%-~]+)\$([0-9a-f]+)$/

/**
 * A scrypt hash as PHC string (`$scrypt$ln=…,r=…,p=…$salt$tag`), or as Django or Werkzeug writes it.
 * `tooCostly` beyond 128 MiB of memory, or twice the time of N = 2^17, r = 8, p = 1. Never throws.
 */
export function readScryptHash(text: string): ReadHash<ScryptHash> {
  const [logCost = '', r = '', p = '', salt = '', tag = ''] = partsOf(scryptPhc, text) ?? []
  if (logCost !== '') {
    return boundedScrypt(2 ** Number(logCost), r, p, saltAndTag(fromBase64(salt), fromBase64(tag)))
  }
  const [cost = '', typed = '', size = '', lanes = '', key = ''] = partsOf(scryptDjango, text) ?? []
  if (cost !== '') {
    return boundedScrypt(Number(cost), size, lanes, saltAndTag(textBytes(typed), fromBase64(key)))
  }
  const [n = '', block = '', parallel = '', own = '', hex = ''] =
    partsOf(scryptWerkzeug, text) ?? []
  if (n === '') return null
  return boundedScrypt(Number(n), block, parallel, saltAndTag(textBytes(own), fromHex(hex)))
}

function boundedScrypt(
  cost: number,
  size: string,
  lanes: string,
  bytes: SaltAndTag | null,
): ReadHash<ScryptHash> {
  if (bytes === null || cost < 2 || !Number.isInteger(Math.log2(cost))) return null
  const costs = { cost, blockSize: Number(size), parallelization: Number(lanes) }
  if (!isWithinBounds(costs)) return 'tooCostly'
  // RFC 7914 §2. No password could be checked against it.
  return Math.log2(cost) < 16 * costs.blockSize ? { ...costs, ...bytes } : null
}

function isWithinBounds(costs: ScryptCosts): boolean {
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

const betterAuthForm = /^([0-9a-f]{32}):([0-9a-f]{128})$/
const betterAuthCosts = { cost: 16_384, blockSize: 16, parallelization: 1 }

/** `<salt>:<key>` as better-auth stores it. Null for every other text. */
export function readBetterAuthHash(text: string): SaltAndTag | null {
  const [salt = '', tag = ''] = partsOf(betterAuthForm, text) ?? []
  return saltAndTag(textBytes(salt), fromHex(tag))
}

/** better-auth hashes the salt as it is written, and the password in the form NFKC. */
export function verifyBetterAuth(hash: SaltAndTag, password: Uint8Array): Promise<boolean> {
  const typed = new TextDecoder('utf-8', { ignoreBOM: true }).decode(password)
  return verifyScrypt({ ...hash, ...betterAuthCosts }, textBytes(typed.normalize('NFKC')))
}

const firebaseForm = /^\$firebase-scrypt\$([\w+/-]+={0,2})\$([\w+/-]+={0,2})$/

/** `$firebase-scrypt$<salt>$<passwordHash>`, both as Firebase exports them. Null for every other text. */
export function readFirebaseHash(text: string): SaltAndTag | null {
  const [salt = '', tag = ''] = partsOf(firebaseForm, text) ?? []
  return saltAndTag(fromBase64(salt), fromBase64(tag))
}

/**
 * Firebase's own scrypt: the derived key encrypts the key of the project, and the cipher text is the hash.
 * See https://github.com/firebase/scrypt.
 */
export async function verifyFirebase(
  params: FirebaseScryptParams,
  { salt, tag }: SaltAndTag,
  password: Uint8Array,
): Promise<boolean> {
  const { memCost, rounds } = params
  const costs = { cost: 2 ** memCost, blockSize: rounds, parallelization: 1 }
  const separator = fromBase64(params.saltSeparator) ?? new Uint8Array()
  const salted = Buffer.concat([salt, separator])
  const key = await deriveScrypt(password, salted, 32, costs)
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const signerKey = fromBase64(params.signerKey) ?? new Uint8Array()
  const made = Buffer.concat([cipher.update(signerKey), cipher.final()])
  return made.length === tag.length && made.length > 0 && timingSafeEqual(made, tag)
}
