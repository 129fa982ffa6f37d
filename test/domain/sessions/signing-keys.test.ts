import { expect, it } from 'vitest'
import { createSigningKeys } from '../../../src/domain/sessions/signing-keys.js'
import type { Clock } from '../../../src/ports/clock.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { rsaPair } from '../../crypto/forge.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'

const hour = 60 * 60 * 1000

it('a key that was taken out goes out of force within a minute, though the clock stepped back', async () => {
  const steady = fakeClock()
  let behind = 0
  const clock: Clock = { ...steady, now: () => steady.now() - behind }
  const [old, fresh] = [rsaPair().privateKey, rsaPair().privateKey]
  let current = old
  let reads = 0
  const keys = async () => {
    reads += 1
    return { current }
  }
  const source = await createSigningKeys(keys, clock, recordingLogger())
  const { kid } = await source.ring()
  current = fresh
  behind = hour
  await steady.advance(60_000)
  // Read again beside the request, which goes on with the ring at hand.
  expect((await source.ring()).kid).toBe(kid)
  await expect.poll(async () => (await source.ring()).kid).not.toBe(kid)
  // Once, and from there on as often as by any other clock.
  expect(reads).toBe(2)
  await steady.advance(59_999)
  await source.ring()
  expect(reads).toBe(2)
  await steady.advance(1)
  await source.ring()
  expect(reads).toBe(3)
})
