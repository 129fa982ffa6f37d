import { pbkdf2, timingSafeEqual } from 'node:crypto'
import {
  fromBase64,
  fromHex,
  partsOf,
  type ReadHash,
  type SaltAndTag,
  saltAndTag,
  textBytes,
} from './hash-text.js'

export interface Pbkdf2Hash extends SaltAndTag {
  readonly digest: 'sha1' | 'sha256' | 'sha512'
  readonly iterations: number
}

/** Above what products use (Django 6: 1,200,000); half a second to two on a server. */
const mostIterations = 2_000_000
/** Bytes of a block. */
const blockBytes = { sha1: 20, sha256: 32, sha512: 64 } as const

const phc =
  /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:i=)?([1-9]\d{0,9})(?:,l=(\d{1,3}))?\$([^$]+)\$([^$]+)$/
const django = /^pbkdf2_(sha1|sha256)\$([1-9]\d{0,9})\$([!-#%-~]+)\$([A-Za-z0-9+/]+={0,2})$/
const werkzeug = /^pbkdf2:(sha1|sha256|sha512):([1-9]\d{0,9})\$([!-#%-~]+)\$([0-9a-f]+)$/

/**
 * A PBKDF2 hash (RFC 8018 §5.2) as PHC string (`$pbkdf2-sha256$i=…$salt$tag`), or as passlib, Django or
 * Werkzeug writes it. `tooCostly` beyond 2,000,000 iterations, counted for each block of the digest that
 * the tag takes. Never throws.
 */
export function readPbkdf2Hash(text: string): ReadHash<Pbkdf2Hash> {
  const general = partsOf(phc, text)
  if (general !== null) {
    const [digest = 'sha1', iterations = '', length, salt = '', tag = ''] = general
    const bytes = saltAndTag(fromBase64(salt), fromBase64(tag))
    if (length !== undefined && bytes?.tag.length !== Number(length)) return null
    return bounded(digest, iterations, bytes)
  }
  const [digest = '', iterations = '', typed = '', key = ''] = partsOf(django, text) ?? []
  if (digest !== '')
    return bounded(digest, iterations, saltAndTag(textBytes(typed), fromBase64(key)))
  const [name = '', rounds = '', own = '', hex = ''] = partsOf(werkzeug, text) ?? []
  if (name === '') return null
  return bounded(name, rounds, saltAndTag(textBytes(own), fromHex(hex)))
}

function bounded(
  digest: string,
  iterations: string,
  bytes: SaltAndTag | null,
): ReadHash<Pbkdf2Hash> {
  if (bytes === null || !isDigest(digest)) return null
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
