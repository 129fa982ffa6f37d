import { expect, it } from 'vitest'
import { loadKeyRing } from '../../src/crypto/key-ring.js'
import { maxTokenLength } from '../../src/crypto/token-format.js'
import { unknownKeyOf } from '../../src/crypto/tokens.js'
import { testSigningKey } from '../support/keys.js'
import { encode } from './forge.js'

const pem = await testSigningKey()
const ring = await loadKeyRing({ current: pem })
const kid = 'k'.repeat(43)
const tokenOf = (header: unknown, rest = '.payload.signature') => `${encode(header)}${rest}`

it('a token names the key that the ring does not hold', () => {
  expect(unknownKeyOf(tokenOf({ alg: 'RS256', kid }), ring)).toBe(kid)
  expect(unknownKeyOf(tokenOf({ alg: 'RS256', kid: `${'-_'.repeat(21)}9` }), ring)).not.toBeNull()
})

it.each([
  ['one that it holds', tokenOf({ alg: 'RS256', kid: ring.kid })],
  ['none', tokenOf({ alg: 'RS256' })],
  ['one by a number', tokenOf({ alg: 'RS256', kid: 7 })],
  ['one that is too short', tokenOf({ alg: 'RS256', kid: 'k'.repeat(42) })],
  ['one that is too long', tokenOf({ alg: 'RS256', kid: 'k'.repeat(44) })],
  ['one of other characters', tokenOf({ alg: 'RS256', kid: '+'.repeat(43) })],
  ['one with another algorithm', tokenOf({ alg: 'ES256', kid })],
  ['one without an algorithm', tokenOf({ kid })],
  ['one in a token without dots', tokenOf({ alg: 'RS256', kid }, '')],
  ['what is no header', 'header.payload.signature'],
  ['nothing', ''],
])('and not %s', (_name, token) => {
  expect(unknownKeyOf(token, ring)).toBeNull()
})

it('a token that is too long for any is not looked at', () => {
  const start = tokenOf({ alg: 'RS256', kid }, '.')
  expect(unknownKeyOf(start.padEnd(maxTokenLength, 'x'), ring)).toBe(kid)
  expect(unknownKeyOf(start.padEnd(maxTokenLength + 1, 'x'), ring)).toBeNull()
})
