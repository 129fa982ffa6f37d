import { expect, it } from 'vitest'
import type { KeyRing } from '../../../src/crypto/key-ring.js'
import { createSigningKeys } from '../../../src/domain/sessions/signing-keys.js'
import type { Clock } from '../../../src/ports/clock.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { rsaPair } from '../../crypto/forge.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'

const hour = 60 * 60 * 1000

it('a key that was taken out is out of force at the next request, though the clock stepped back', async () => {
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
  expect((await source.ring()).kid).not.toBe(kid)
  // Once, and from there on as often as by any other clock.
  expect(reads).toBe(2)
  await steady.advance(119_999)
  await source.ring()
  expect(reads).toBe(2)
  await steady.advance(1)
  await source.ring()
  expect(reads).toBe(3)
})

it('equal keys leave the ring as it is, so that verified tokens stay remembered', async () => {
  const [current, next] = [rsaPair().privateKey, rsaPair().privateKey]
  let given: KeyRing = { current }
  const source = await createSigningKeys(async () => given, fakeClock(), recordingLogger())
  const before = await source.ring()
  given = { ...given }
  await source.reload()
  expect(await source.ring()).toBe(before)
  given = { current, next }
  await source.reload()
  expect(await source.ring()).not.toBe(before)
  given = { current: next, previous: [current] }
  const published = await source.ring()
  await source.reload()
  expect((await source.ring()).kid).not.toBe(published.kid)
})

it('a function that does not answer within ten seconds counts as failed', async () => {
  const clock = fakeClock()
  const current = rsaPair().privateKey
  let isSilent = false
  const keys = () => (isSilent ? new Promise<KeyRing>(() => {}) : Promise.resolve({ current }))
  const source = await createSigningKeys(keys, clock, recordingLogger())
  isSilent = true
  await clock.advance(120_000)
  const waiting = source.ring().catch((error: unknown) => error)
  await clock.advance(10_000)
  expect(await waiting).toMatchObject({ code: 'service_unavailable' })
  // For the next five seconds of silence no request waits at all.
  isSilent = false
  await clock.advance(5000)
  expect((await source.ring()).kid).toHaveLength(43)
})
