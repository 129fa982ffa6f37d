import { createHash, createHmac, hash as digestOf, timingSafeEqual } from 'node:crypto'
import type { LegacyHashes, LegacyVerifier } from '../ports/host.js'
import {
  boundedPbkdf2,
  format,
  fromBase64,
  fromHex,
  type Pbkdf2Hash,
  partsOf,
  type ReadHash,
  readBcryptHash,
  saltAndTag,
  textBytes,
  verifyBcrypt,
  verifyPbkdf2,
} from './legacy-formats.js'

/**
 * `$P$…` and `$H$…`: the portable hashes of phpass, as WordPress before 6.8 and phpBB store them. Up to 2^15 rounds of
 * MD5, which block the process for some 50 ms, and for some 200 ms with a password of 1,024 bytes.
 */
export function phpass(): LegacyVerifier {
  return format(readPhpass, verifyPhpass)
}

/**
 * `$wp$2y$…` of WordPress 6.8 and newer: bcrypt of an HMAC, so that it reads all of a long password. `compare` is that of
 * a bcrypt library, up to a cost of 14.
 *
 * @example
 * import { phpass, wordpress } from 'postern/verifiers'
 *
 * // `compare` of bcrypt, bcryptjs or @node-rs/bcrypt.
 * type Compare = (password: string, hash: string) => Promise<boolean>
 * export const verifiersBy = (compare: Compare) => [wordpress(compare), phpass()]
 */
export function wordpress(compare: NonNullable<LegacyHashes['bcrypt']>): LegacyVerifier {
  return format(prefixed('$wp', readBcryptHash), (hash, password) =>
    verifyBcrypt(compare, hash, textBytes(wordpressDigest(password))),
  )
}

/** `bcrypt_sha256$$2b$…` of Django: bcrypt of a SHA-256, up to a cost of 14. `compare` is that of a bcrypt library. */
export function djangoBcryptSha256(compare: NonNullable<LegacyHashes['bcrypt']>): LegacyVerifier {
  return format(prefixed('bcrypt_sha256$', readBcryptHash), (hash, password) =>
    verifyBcrypt(compare, hash, textBytes(createHash('sha256').update(password).digest('hex'))),
  )
}

/**
 * The hashes of ASP.NET Identity 1 and 2 and of ASP.NET Core Identity (its formats 2 and 3, with SHA-1, SHA-256 and
 * SHA-512), up to 2,000,000 iterations.
 */
export function aspnetIdentity(): LegacyVerifier {
  return format(readAspnet, verifyPbkdf2)
}

/**
 * `{pbkdf2}…` and `{pbkdf2@SpringSecurity_v5_8}…` of Spring Security, with the numbers of its defaults, which its
 * hashes do not tell. `secret` is what the encoder was made with, as a text; by default nothing.
 */
export function springPbkdf2({ secret = '' }: SpringPbkdf2Options = {}): LegacyVerifier {
  return format((text) => readSpring(text, textBytes(secret)), verifyPbkdf2)
}

/** The options of `springPbkdf2`. */
export interface SpringPbkdf2Options {
  readonly secret?: string
}

function prefixed<T>(prefix: string, read: (text: string) => ReadHash<T>) {
  return (text: string) => (text.startsWith(prefix) ? read(text.slice(prefix.length)) : null)
}

/** WordPress takes blanks and NUL from both ends before it hashes or checks. */
function wordpressDigest(password: Uint8Array): string {
  const blanks = [0, 9, 10, 11, 13, 32]
  const isSolid = (byte: number) => !blanks.includes(byte)
  const solid = password.subarray(
    Math.max(0, password.findIndex(isSolid)),
    password.findLastIndex(isSolid) + 1,
  )
  return createHmac('sha384', 'wp-sha384').update(solid).digest('base64')
}

interface Phpass {
  readonly rounds: number
  readonly salt: string
  readonly tag: string
}

const phpassDigits = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const phpassForm = /^\$[PH]\$([./0-9A-Za-z])([./0-9A-Za-z]{8})([./0-9A-Za-z]{22})$/
/** Other requests wait meanwhile. */
const mostPhpass = 15

function readPhpass(text: string): ReadHash<Phpass> {
  const [digit = '', salt = '', tag = ''] = partsOf(phpassForm, text) ?? []
  const log = phpassDigits.indexOf(digit)
  if (digit === '' || log < 7 || log > 30) return null
  return log > mostPhpass ? 'tooCostly' : { rounds: 2 ** log, salt, tag }
}

async function verifyPhpass(hash: Phpass, password: Uint8Array): Promise<boolean> {
  const md5 = (before: Uint8Array) => digestOf('md5', Buffer.concat([before, password]), 'buffer')
  let state = md5(textBytes(hash.salt))
  for (let round = 0; round < hash.rounds; round += 1) state = md5(state)
  return timingSafeEqual(textBytes(phpassText(state)), textBytes(hash.tag))
}

/** Six bits a digit, the lowest first, three bytes at a time. */
function phpassText(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const group = bytes.subarray(at, at + 3)
    const value = group.reduce((sum, byte, place) => sum + byte * 256 ** place, 0)
    for (let digit = 0; digit <= group.length; digit += 1) {
      text += phpassDigits[Math.floor(value / 64 ** digit) % 64]
    }
  }
  return text
}

const aspnetDigests = ['sha1', 'sha256', 'sha512'] as const

function readAspnet(text: string): ReadHash<Pbkdf2Hash> {
  const bytes = text.length <= 512 ? Buffer.from(fromBase64(text) ?? []) : Buffer.alloc(0)
  // Format 2: a zero, the salt and 32 bytes.
  if (bytes[0] === 0 && bytes.length === 49) {
    return boundedPbkdf2('sha1', 1000, saltAndTag(bytes.subarray(1, 17), bytes.subarray(17)))
  }
  if (bytes[0] !== 1 || bytes.length < 13) return null
  const digest = aspnetDigests[bytes.readUInt32BE(1)]
  const tagAt = 13 + bytes.readUInt32BE(9)
  if (digest === undefined || tagAt > bytes.length) return null
  const parts = saltAndTag(bytes.subarray(13, tagAt), bytes.subarray(tagAt))
  return boundedPbkdf2(digest, bytes.readUInt32BE(5), parts)
}

const springForm = /^\{pbkdf2(@SpringSecurity_v5_8)?\}([0-9a-f]+)$/

/** The salt and 32 bytes. */
function readSpring(text: string, secret: Uint8Array): ReadHash<Pbkdf2Hash> {
  const [isNew, hex = ''] = partsOf(springForm, text) ?? []
  const bytes = fromHex(hex)
  const saltBytes = isNew === undefined ? 8 : 16
  if (bytes?.length !== saltBytes + 32) return null
  const salt = Buffer.concat([bytes.subarray(0, saltBytes), secret])
  const parts = saltAndTag(salt, bytes.subarray(saltBytes))
  return isNew === undefined
    ? boundedPbkdf2('sha1', 185_000, parts)
    : boundedPbkdf2('sha256', 310_000, parts)
}
