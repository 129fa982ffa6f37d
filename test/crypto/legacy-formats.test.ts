import { pbkdf2Sync, scryptSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fromBase64,
  legacyFormats,
  readBcryptHash,
  readBetterAuthHash,
  readFirebaseHash,
  readPbkdf2Hash,
  readScryptHash,
} from '../../src/crypto/legacy-formats.js'

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** The project and the account of the published example of Firebase's scrypt. */
const firebaseScrypt = {
  signerKey:
    'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  saltSeparator: 'Bw==',
  rounds: 8,
  memCost: 14,
}
const firebaseHash =
  '$firebase-scrypt$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=='

const bcryptText = '$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'

/** A library that only knows the usual name of the format. */
const bcrypt = async (password: string, hash: string) =>
  password === 'correct horse' && hash === bcryptText.replace('$2y$', '$2b$')

const formats = legacyFormats({
  bcrypt,
  scrypt: true,
  betterAuth: true,
  pbkdf2: true,
  firebaseScrypt,
})

const standing = (hash: string): string => {
  const readers = formats.filter((format) => format.recognises(hash))
  if (readers.length > 1) return 'read by several'
  if (readers.length === 1) return 'checkable'
  return formats.some((format) => format.isTooCostly(hash)) ? 'tooCostly' : 'unknown'
}

const verify = (hash: string, password: string) =>
  formats.find((format) => format.recognises(hash))?.verify(hash, bytesOf(password))

const b64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replace(/=+$/, '')

const scryptOf = (salt: string | Uint8Array, ln: number, length = 32) =>
  scryptSync('correct horse', salt, length, { N: 2 ** ln, r: 8, p: 1 })
const pbkdf2Of = (salt: string | Uint8Array, digest: string, length: number) =>
  pbkdf2Sync('correct horse', salt, 1000, length, digest)

/** With the salt as it is written. */
function betterAuthOf(password: string): string {
  const typed = 'e9a4c1d0'.repeat(4)
  const key = scryptSync(password, typed, 64, { N: 16_384, r: 16, p: 1, maxmem: 2 ** 26 })
  return `${typed}:${key.toString('hex')}`
}

const salt = Uint8Array.from({ length: 16 }, (_, at) => at * 16 + 15)
const scryptTag = b64(scryptOf(salt, 4))

const written = {
  'scrypt as PHC string': `$scrypt$ln=4,r=8,p=1$${b64(salt)}$${scryptTag}`,
  'scrypt of Django': `scrypt$16$seasalt$8$1$${scryptOf('seasalt', 4, 64).toString('base64')}`,
  'scrypt of Werkzeug': `scrypt:16:8:1$seasalt$${scryptOf('seasalt', 4, 64).toString('hex')}`,
  'PBKDF2 as PHC string': `$pbkdf2-sha512$i=1000$${b64(salt)}$${b64(pbkdf2Of(salt, 'sha512', 64))}`,
  'PBKDF2 with its length': `$pbkdf2-sha256$i=1000,l=32$${b64(salt)}$${b64(pbkdf2Of(salt, 'sha256', 32))}`,
  'PBKDF2 of passlib': `$pbkdf2$1000$${b64(salt).replaceAll('+', '.')}$${b64(pbkdf2Of(salt, 'sha1', 20)).replaceAll('+', '.')}`,
  'PBKDF2 of Django': `pbkdf2_sha256$1000$seasalt$${pbkdf2Of('seasalt', 'sha256', 32).toString('base64')}`,
  'PBKDF2 of Werkzeug': `pbkdf2:sha256:1000$seasalt$${pbkdf2Of('seasalt', 'sha256', 32).toString('hex')}`,
  'scrypt of better-auth': betterAuthOf('correct horse'),
  bcrypt: bcryptText,
}

describe('formats of older hashes', () => {
  it.each(Object.entries(written))('takes the right password alone: %s', async (_, hash) => {
    expect(standing(hash)).toBe('checkable')
    expect(await verify(hash, 'correct horse')).toBe(true)
    expect(await verify(hash, 'correct horsf')).toBe(false)
    expect(await verify(hash, '')).toBe(false)
    expect(await verify(hash, '\uFEFFcorrect horse')).toBe(false)
  })

  it.each([
    ['Firebase', firebaseHash, 'user1password'],
    ['Firebase, in the alphabet of URLs', firebaseHash.replaceAll('+', '-'), 'user1password'],
    [
      'Django scrypt',
      'scrypt$16384$seasalt$8$1$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw==',
      'lètmein',
    ],
    [
      'RFC 7914 §12',
      `$scrypt$ln=10,r=8,p=16$${b64(bytesOf('NaCl'))}$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWIurzDZLiKjiG/xCSedmDDaxyevuUqD7m2DYMvfoswGQA`,
      'password',
    ],
    [
      'Django PBKDF2',
      'pbkdf2_sha256$260000$seasalt$YlZ2Vggtqdc61YjArZuoApoBh9JNGYoDRBUGu6tcJQo=',
      'lètmein',
    ],
  ])('takes what was published: %s', async (_, hash, password) => {
    expect(await verify(hash, password)).toBe(true)
    expect(await verify(hash, `${password} `)).toBe(false)
  })

  it('tells what costs more than a login may, and never checks it', async () => {
    const tag = b64(new Uint8Array(32))
    const tooCostly = [
      `$scrypt$ln=18,r=8,p=1$${b64(salt)}$${tag}`,
      `$scrypt$ln=17,r=8,p=3$${b64(salt)}$${tag}`,
      `$scrypt$ln=99,r=1,p=1$${b64(salt)}$${tag}`,
      `$scrypt$ln=1,r=999999,p=999999$${b64(salt)}$${tag}`,
      `scrypt$1073741824$seasalt$8$1$${tag}=`,
      `scrypt:1073741824:8:1$seasalt$${'00'.repeat(32)}`,
      `$pbkdf2-sha256$i=2000001$${b64(salt)}$${tag}`,
      `$pbkdf2-sha256$i=1000001$${b64(salt)}$${b64(new Uint8Array(33))}`,
      `pbkdf2_sha256$9999999999$seasalt$${tag}=`,
      `pbkdf2:sha1:9999999999$seasalt$${'00'.repeat(20)}`,
      bcryptText.replace('$10$', '$15$'),
      bcryptText.replace('$10$', '$99$'),
    ]
    for (const hash of tooCostly) {
      expect([hash, standing(hash)]).toEqual([hash, 'tooCostly'])
      for (const format of formats) expect(await format.verify(hash, bytesOf('x'))).toBe(false)
    }
    const atTheBound = [
      `$scrypt$ln=17,r=8,p=2$${b64(salt)}$${tag}`,
      `$pbkdf2-sha256$i=2000000$${b64(salt)}$${tag}`,
      bcryptText.replace('$10$', '$14$'),
    ]
    expect(atTheBound.map(standing)).toEqual(atTheBound.map(() => 'checkable'))
  })

  it('reads no other text', () => {
    const texts = [
      '',
      'constructor',
      '__proto__',
      'pbkdf2_constructor$1000$seasalt$AAAA',
      // A tag that a guess could meet by luck.
      `$scrypt$ln=4,r=8,p=1$${b64(salt)}$${b64(new Uint8Array(15))}`,
      `$pbkdf2-sha256$i=1000,l=16$${b64(salt)}$${b64(new Uint8Array(32))}`,
      `$scrypt$ln=0,r=8,p=1$${b64(salt)}$${scryptTag}`,
      `scrypt$17$seasalt$8$1$${scryptTag}=`,
      // More than blocks of this size allow.
      `$scrypt$ln=16,r=1,p=1$${b64(salt)}$${scryptTag}`,
      `$scrypt$ln=4,r=8,p=1$!${b64(salt)}$${scryptTag}`,
      `$scrypt$ln=4,r=8,p=1$${b64(salt)}$${scryptTag}\n`,
      `pbkdf2:sha256:1000$seasalt$${'00'.repeat(15)}`,
      `pbkdf2:sha256:1000$sea\0salt$${'00'.repeat(32)}`,
      `pbkdf2:sha256:1000$${'s'.repeat(600)}$${'00'.repeat(32)}`,
      bcryptText.replace('$10$', '$03$'),
      bcryptText.replace('$2y$', '$2x$'),
      bcryptText.slice(0, -1),
    ]
    for (const text of texts) expect([text, standing(text)]).toEqual([text, 'unknown'])
  })

  it('never throws, and no two formats read one text', () => {
    const pieces = fc.constantFrom(
      ...['$', 'scrypt', 'pbkdf2', '-sha256', '_sha1', ':', 'ln=', ',r=', ',p=', 'i=', '$2b$'],
      ...[
        '10',
        '99999999999999',
        '0',
        '8',
        'AAAA',
        'seasalt',
        '=',
        '../',
        'firebase-',
        '\0',
        '__proto__',
      ],
    )
    const nearly = fc.array(pieces, { maxLength: 24 }).map((all) => all.join(''))
    const changed = fc
      .tuple(
        fc.constantFrom(...Object.values(written), firebaseHash),
        fc.nat(),
        fc.string({ maxLength: 3 }),
      )
      .map(([hash, at, more]) => {
        const place = at % hash.length
        return hash.slice(0, place) + more + hash.slice(place + 1)
      })
    fc.assert(
      fc.property(fc.oneof(nearly, changed, fc.string({ unit: 'binary' })), (text) => {
        expect(standing(text)).not.toBe('read by several')
        for (const read of [
          ...[readScryptHash, readBetterAuthHash, readPbkdf2Hash, readFirebaseHash],
          readBcryptHash,
        ]) {
          expect(() => read(text)).not.toThrow()
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('reads back every salt, tag and cost in bounds', () => {
    const bytes = (minLength: number) => fc.uint8Array({ minLength, maxLength: 64 })
    fc.assert(
      fc.property(bytes(1), bytes(16), fc.integer({ min: 1, max: 16 }), (own, tag, ln) => {
        const phc = `$scrypt$ln=${ln},r=8,p=1$${b64(own)}$${b64(tag)}`
        expect(readScryptHash(phc)).toEqual({
          cost: 2 ** ln,
          blockSize: 8,
          parallelization: 1,
          salt: Buffer.from(own),
          tag: Buffer.from(tag),
        })
        const other = `$pbkdf2-sha512$i=${ln}$${b64(own)}$${b64(tag)}`
        const read = readPbkdf2Hash(other)
        expect(read).toMatchObject({ digest: 'sha512', iterations: ln, tag: Buffer.from(tag) })
      }),
    )
  })

  it('reads base64 written in one way only', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 32 }), (bytes) => {
        const plain = Buffer.from(bytes)
        for (const form of ['base64', 'base64url'] as const) {
          expect(fromBase64(plain.toString(form))).toEqual(plain)
        }
      }),
    )
    // Bits that no byte has.
    expect(fromBase64('AB')).toBeNull()
    expect(fromBase64('A')).toBeNull()
    expect(fromBase64('A A=')).toBeNull()
  })

  it('asks a hash of better-auth for the password in the form that it hashed', async () => {
    const hash = betterAuthOf('fine 4')
    expect(await verify(hash, 'ﬁne ⁴')).toBe(true)
    expect(await verify(hash, 'fine 5')).toBe(false)
    expect(standing(hash.toUpperCase())).toBe('unknown')
    expect(standing(hash.slice(0, -2))).toBe('unknown')
  })

  it('reads nothing that the host did not switch on', () => {
    expect(legacyFormats({})).toEqual([])
    expect(legacyFormats({ scrypt: false, betterAuth: false, pbkdf2: false })).toEqual([])
    const [only, ...others] = legacyFormats({ pbkdf2: true })
    expect(others).toEqual([])
    expect(only?.recognises(written['PBKDF2 of Django'])).toBe(true)
    expect(only?.recognises(written['scrypt of Django'])).toBe(false)
    expect(only?.isTooCostly(bcryptText.replace('$10$', '$15$'))).toBe(false)
  })

  it('lets no bcrypt library cut a password at a NUL, and takes nothing but true for a yes', async () => {
    const cut = legacyFormats({ bcrypt: async (password) => password.split('\0')[0] === 'abc' })
    expect(await cut[0]?.verify(bcryptText, bytesOf('abc\0def'))).toBe(false)
    expect(await cut[0]?.verify(bcryptText, bytesOf('abc'))).toBe(true)
    const odd: object = { bcrypt: async () => 'yes' }
    expect(await legacyFormats(odd)[0]?.verify(bcryptText, bytesOf('abc'))).toBe(false)
  })
})
