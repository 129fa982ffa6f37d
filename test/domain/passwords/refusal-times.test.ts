import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { argon2Hasher } from '../../../src/crypto/argon2-hashers.js'
import { hashGate } from '../../../src/crypto/hash-gate.js'
import { createPasswordHashes } from '../../../src/domain/hashing/password-hashes.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { anyLine } from '../../support/hash-line.js'

const params = { memoryCost: 128, timeCost: 2, parallelism: 1 }
const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }

/** Hashes of argon2 that take no time, and imported ones that take 80 ms. */
function open(evensOut: boolean) {
  const clock = fakeClock()
  const slow = {
    recognises: (hash: string) => hash.startsWith('slow:'),
    verify: async () => {
      await clock.advance(80)
      return false
    },
  }
  const gate = hashGate({ concurrency: 1, clock })
  const deps = { hasher: argon2Hasher(), legacyVerifiers: [slow], gate, params, random, clock }
  return { clock, passwords: createPasswordHashes({ ...deps, evensOut }) }
}

it.each([
  [true, 'takes as long as one of the slowest hash that was met'],
  [false, 'takes its own time in test suites, whose clock stands still'],
])('a refusal (evensOut %s) %s', async (evensOut, _what) => {
  const { clock, passwords } = open(evensOut)
  await passwords.verify('slow:hash', 'a password', anyLine)
  const verdict = await passwords.verify(null, 'a password', anyLine)
  let isOver = false
  const over = passwords.evenOut(verdict).then(() => {
    isOver = true
  })
  await clock.advance(79)
  expect(isOver).toBe(!evensOut)
  await clock.advance(1)
  await over
})

it('a refusal takes as long as one that tried two spellings of a password', async () => {
  const { clock, passwords } = open(true)
  await passwords.verify('slow:hash', 'caf\u00e9', anyLine)
  await passwords.verify('slow:hash', 'cafe\u0301', anyLine)
  // Those of one spelling do not shorten it again.
  await passwords.verify('slow:hash', 'caf\u00e9', anyLine)
  const verdict = await passwords.verify(null, 'caf\u00e9', anyLine)
  let isOver = false
  const over = passwords.evenOut(verdict).then(() => {
    isOver = true
  })
  await clock.advance(159)
  expect(isOver).toBe(false)
  await clock.advance(1)
  await over
})
