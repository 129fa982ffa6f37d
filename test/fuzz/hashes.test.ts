import { expect } from 'vitest'
import {
  readBcryptHash,
  readFirebaseHash,
  readPbkdf2Hash,
  readScryptHash,
  type SaltAndTag,
} from '../../src/crypto/legacy-formats.js'
import { formatPhc, parsePhc } from '../../src/crypto/phc.js'
import { changedText } from './changed.js'
import { fuzz } from './fuzz.js'

const salt = 'c29tZXNhbHRzb21lc2FsdA'
const tag = 'MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI'
/** Of 16 bytes: one less would be met by luck. */
const hex = '31323334353637383930313233343536'

fuzz({
  name: 'a PHC string, which is read alike once it is written back',
  input: (draw) =>
    changedText(draw, [
      `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${tag}`,
      '$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHQ$MTIzNDU2Nzg5MDEyMzQ1Ng',
      `$argon2d$m=1048576,t=64,p=16$${salt}$${tag}`,
    ]),
  takes(text) {
    const phc = parsePhc(text)
    if (phc === null) return false
    expect(parsePhc(formatPhc(phc))).toEqual(phc)
    expect(phc.memoryCost <= 1024 * 1024 && phc.timeCost <= 64 && phc.parallelism <= 16).toBe(true)
    return true
  },
})

/** That a guess cannot meet it by luck. */
function expectStrong({ salt: bytes, tag: shown }: SaltAndTag): void {
  expect(bytes.byteLength >= 1 && bytes.byteLength <= 128).toBe(true)
  expect(shown.byteLength >= 16 && shown.byteLength <= 128).toBe(true)
}

fuzz({
  name: 'a hash of scrypt, which costs what a login may',
  input: (draw) =>
    changedText(draw, [
      `$scrypt$ln=14,r=8,p=1$${salt}$${tag}`,
      `scrypt$16384$seasalt$8$1$${tag}=`,
      `scrypt:16384:8:1$seasalt$${hex}`,
      `$scrypt$ln=20,r=8,p=1$${salt}$${tag}`,
    ]),
  takes(text) {
    const hash = readScryptHash(text)
    if (hash === null || hash === 'tooCostly') return false
    expectStrong(hash)
    const { cost, blockSize, parallelization } = hash
    expect(128 * cost * blockSize).toBeLessThanOrEqual(128 * 1024 * 1024)
    expect(cost * blockSize * parallelization).toBeLessThanOrEqual(2 ** 21)
    expect([Number.isInteger(Math.log2(cost)), cost > 1]).toEqual([true, true])
    return true
  },
})

fuzz({
  name: 'a hash of PBKDF2, which costs what a login may',
  input: (draw) =>
    changedText(draw, [
      `$pbkdf2-sha512$i=1000$${salt}$${tag}`,
      `$pbkdf2-sha256$i=1000,l=32$${salt}$${tag}`,
      `$pbkdf2$1000$${salt}$${tag}`,
      `pbkdf2_sha256$1000$seasalt$${tag}=`,
      `pbkdf2:sha1:1000$seasalt$${hex}`,
    ]),
  takes(text) {
    const hash = readPbkdf2Hash(text)
    if (hash === null || hash === 'tooCostly') return false
    expectStrong(hash)
    expect(hash.iterations >= 1 && hash.iterations <= 2_000_000).toBe(true)
    expect(['sha1', 'sha256', 'sha512']).toContain(hash.digest)
    return true
  },
})

fuzz({
  name: 'a hash of bcrypt, which costs what a login may',
  input: (draw) =>
    changedText(draw, ['$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy']),
  takes(text) {
    const hash = readBcryptHash(text)
    if (hash === null || hash === 'tooCostly') return false
    expect(hash).toMatch(/^\$2[ab]\$(?:0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$/)
    return true
  },
})

fuzz({
  name: 'a hash of Firebase, which a guess does not meet by luck',
  input: (draw) => changedText(draw, [`$firebase-scrypt$42xEC+ixf3L2lw==$${tag}=`]),
  takes(text) {
    const hash = readFirebaseHash(text)
    if (hash === null) return false
    expectStrong(hash)
    return true
  },
})
