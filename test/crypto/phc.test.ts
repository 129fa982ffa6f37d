import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatPhc,
  isWeakerThan,
  type Phc,
  parsePhc,
  upgradedParams,
} from '../../src/crypto/phc.js'

const usual = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const phc: Phc = {
  variant: 'argon2id',
  version: 19,
  ...usual,
  salt: new Uint8Array(16).fill(7),
  tag: new Uint8Array(32).fill(9),
}
const salt = 'BwcHBwcHBwcHBwcHBwcHBw'
const tag = 'CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk'
const text = `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${tag}`

/** As `formatPhc` writes it, whatever the costs and sizes. */
function written({ variant, version, memoryCost, timeCost, parallelism, ...bytes }: Phc): string {
  const [saltText, tagText] = [bytes.salt, bytes.tag].map((one) =>
    Buffer.from(one).toString('base64').replaceAll('=', ''),
  )
  const costs = `m=${memoryCost},t=${timeCost},p=${parallelism}`
  return `$${variant}$v=${version}$${costs}$${saltText}$${tagText}`
}

describe('parsePhc', () => {
  test('reads and writes the PHC string format', () => {
    expect(formatPhc(phc)).toBe(text)
    const read = parsePhc(text)
    expect(read).toMatchObject({ variant: 'argon2id', version: 19, ...usual })
    expect(read?.salt).toEqual(Buffer.alloc(16, 7))
    expect(read?.tag).toEqual(Buffer.alloc(32, 9))
  })

  test('reads back whatever it writes', () => {
    const arbitrary = fc.record({
      variant: fc.constantFrom('argon2id', 'argon2i', 'argon2d'),
      version: fc.constantFrom(16, 19),
      memoryCost: fc.integer({ min: 128, max: 1_048_576 }),
      timeCost: fc.integer({ min: 1, max: 64 }),
      parallelism: fc.integer({ min: 1, max: 16 }),
      salt: fc.uint8Array({ minLength: 8, maxLength: 48 }),
      tag: fc.uint8Array({ minLength: 12, maxLength: 64 }),
    })
    fc.assert(
      fc.property(arbitrary, (some) => {
        const typed = some as Phc
        const read = parsePhc(formatPhc(typed))
        expect(read).not.toBeNull()
        expect({ ...read, salt: [...(read?.salt ?? [])], tag: [...(read?.tag ?? [])] }).toEqual({
          ...typed,
          salt: [...typed.salt],
          tag: [...typed.tag],
        })
      }),
    )
  })

  // The argon2 package writes them in the order of the alphabet from 0.45 on.
  test.each(['m=19456,p=1,t=2', 't=2,m=19456,p=1', 'p=1,t=2,m=19456'])(
    'reads the parameters in the order %s',
    (params) => {
      const other = text.replace('m=19456,t=2,p=1', params)
      expect(other).toContain(params)
      expect(parsePhc(other)).toEqual(parsePhc(text))
    },
  )

  test('a string without a version is of the older one', () => {
    expect(parsePhc(text.replace('$v=19', ''))?.version).toBe(16)
    expect(parsePhc(text.replace('$v=19', '$v=16'))?.version).toBe(16)
  })

  test.each([
    ['nothing', ''],
    ['bcrypt', '$2b$12$C6UzMDM.H6dfI/f/IKcEeO7ZUHl3cHT3sVu8GZB1tXh9xq0v1h5t2'],
    ['another scheme', text.replace('argon2id', 'scrypt')],
    ['an unknown version', text.replace('v=19', 'v=20')],
    ['a parameter twice', text.replace('m=19456,t=2,p=1', 'm=19456,t=2,t=2')],
    ['a parameter twice beside the others', text.replace('p=1', 'p=1,t=2')],
    ['an unknown parameter', text.replace('p=1', 'p=1,keyid=abcd')],
    ['a missing parameter', text.replace(',p=1', '')],
    ['a leading zero', text.replace('t=2', 't=02')],
    ['no passes', text.replace('t=2', 't=0')],
    ['no lanes', text.replace('p=1', 'p=0')],
    ['a sign', text.replace('t=2', 't=+2')],
    ['no tag', text.slice(0, text.lastIndexOf('$'))],
    ['an empty tag', text.slice(0, text.lastIndexOf('$') + 1)],
    ['something after it', `${text}$`],
    ['a line break after it', `${text}\n`],
    ['padding', `${text}=`],
    ['the URL alphabet', text.replace(/CQkJ/g, 'CQ-_')],
    ['a length base64 cannot have', `${text}JJ`],
    ['bits that belong to no byte', `${text.slice(0, -1)}l`],
    ['a salt of 7 bytes', written({ ...phc, salt: new Uint8Array(7) })],
    ['a salt of 49 bytes', written({ ...phc, salt: new Uint8Array(49) })],
    ['a tag of 11 bytes', written({ ...phc, tag: new Uint8Array(11) })],
    ['a tag of 65 bytes', written({ ...phc, tag: new Uint8Array(65) })],
    ['more than 1 GiB', written({ ...phc, memoryCost: 1_048_577 })],
    ['terabytes', written({ ...phc, memoryCost: 4_294_967_295 })],
    ['65 passes', written({ ...phc, timeCost: 65 })],
    ['17 lanes', written({ ...phc, parallelism: 17 })],
    ['less than 8 KiB a lane', written({ ...phc, memoryCost: 15, parallelism: 2 })],
    ['a megabyte of digits', `$argon2id$v=19$m=${'9'.repeat(1_000_000)},t=2,p=1$${salt}$${tag}`],
  ])('reads %s as no hash', (_, broken) => {
    expect(parsePhc(broken)).toBeNull()
  })

  test.each<[string, Partial<Phc>]>([
    ['1 GiB', { memoryCost: 1_048_576 }],
    ['8 KiB a lane', { memoryCost: 16, parallelism: 2 }],
    ['64 passes', { timeCost: 64 }],
    ['16 lanes', { parallelism: 16 }],
    ['a salt of 48 bytes', { salt: new Uint8Array(48) }],
    ['a salt of 8 bytes', { salt: new Uint8Array(8) }],
    ['a tag of 64 bytes', { tag: new Uint8Array(64) }],
    ['a tag of 12 bytes', { tag: new Uint8Array(12) }],
  ])('reads %s, which is as much or as little as it takes', (_, more) => {
    expect(parsePhc(written({ ...phc, ...more }))).toMatchObject({ variant: 'argon2id' })
  })

  test.each(['x', `${text}\n`, '\n'])('reads no hash after %j', (before) => {
    expect(parsePhc(`${before}${text}`)).toBeNull()
  })

  test('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(text.length), (noise, at) => {
        expect(parsePhc(noise)).toBeNull()
        parsePhc(text.slice(0, at) + noise + text.slice(at))
      }),
    )
  })
})

describe('isWeakerThan', () => {
  test.each<[string, Partial<Phc>]>([
    ['argon2i', { variant: 'argon2i' }],
    ['argon2d', { variant: 'argon2d' }],
    ['the older version', { version: 16 }],
    ['m = default − 1', { memoryCost: 19_455 }],
    ['t = default − 1', { timeCost: 1 }],
    ['t = default − 1 with more memory', { timeCost: 1, memoryCost: 65_536 }],
    ['m = default − 1 with more passes', { timeCost: 9, memoryCost: 19_455 }],
    ['a tag of 31 bytes', { tag: new Uint8Array(31) }],
    ['a tag of 16 bytes', { tag: new Uint8Array(16) }],
    ['a salt of 15 bytes', { salt: new Uint8Array(15) }],
  ])('%s is weaker', (_, change) => {
    expect(isWeakerThan({ ...phc, ...change }, usual)).toBe(true)
  })

  test.each<[string, Partial<Phc>]>([
    ['the default', {}],
    ['m = default + 1', { memoryCost: 19_457 }],
    ['m = default × 2', { memoryCost: 38_912 }],
    ['t = default + 1', { timeCost: 3 }],
    ['more lanes', { parallelism: 4 }],
    ['a longer tag and salt', { tag: new Uint8Array(64), salt: new Uint8Array(32) }],
  ])('%s is not', (_, change) => {
    expect(isWeakerThan({ ...phc, ...change }, usual)).toBe(false)
  })

  test('fewer lanes are no weakness', () => {
    expect(isWeakerThan(phc, { ...usual, parallelism: 4 })).toBe(false)
  })
})

test('upgradedParams takes of each cost the higher one', () => {
  const old = { memoryCost: 8_192, timeCost: 5, parallelism: 4 }
  expect(upgradedParams(old, usual)).toEqual({ memoryCost: 19_456, timeCost: 5, parallelism: 4 })
  expect(upgradedParams(usual, old)).toEqual({ memoryCost: 19_456, timeCost: 5, parallelism: 4 })
})

test('a hash is weaker than what it would be upgraded to, and that is not weaker any more', () => {
  const costs = fc.record({
    memoryCost: fc.integer({ min: 128, max: 1_048_576 }),
    timeCost: fc.integer({ min: 1, max: 64 }),
    parallelism: fc.integer({ min: 1, max: 16 }),
  })
  fc.assert(
    fc.property(costs, costs, (old, current) => {
      const upgraded = { ...phc, ...upgradedParams(old, current) }
      expect(isWeakerThan(upgraded, current)).toBe(false)
      expect(isWeakerThan(upgraded, old)).toBe(false)
    }),
  )
})
