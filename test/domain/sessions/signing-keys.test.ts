import { expect, it } from 'vitest'
import type { KeyRing } from '../../../src/crypto/key-ring.js'
import { createSigningKeys } from '../../../src/domain/keys/signing-keys.js'
import type { Clock } from '../../../src/ports/host.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { rsaPair } from '../../crypto/forge.js'
import { deferred } from '../../support/deferred.js'
import { keyModule } from '../../support/outside/key-module.js'
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

it('keys are read every minute while no request comes, ten seconds after a failure, and not once closed', async () => {
  const clock = fakeClock()
  const current = rsaPair().privateKey
  const readAt: number[] = []
  let isFailing = false
  const begun = clock.now()
  const keys = async () => {
    readAt.push((clock.now() - begun) / 1000)
    if (isFailing) throw new Error('the vault is sealed')
    return { current }
  }
  const source = await createSigningKeys(keys, clock, recordingLogger())
  source.watch()
  const wait = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) await clock.advance(1000)
  }
  await wait(125)
  isFailing = true
  await wait(75)
  expect(readAt).toEqual([0, 60, 120, 180, 190, 200])
  source.close()
  await wait(125)
  expect(readAt).toHaveLength(6)
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

it('keys of few bits are warned of at the start and when they come in, and not again while they stay', async () => {
  const [current, next] = [rsaPair().privateKey, rsaPair().privateKey]
  const logger = recordingLogger()
  const warnings = () => logger.lines.filter(({ level }) => level === 'warn').length
  let given: KeyRing = { current }
  const source = await createSigningKeys(async () => given, fakeClock(), logger)
  expect(warnings()).toBe(1)
  await source.reload()
  expect(warnings()).toBe(1)
  given = { current, next }
  await source.reload()
  expect(warnings()).toBe(1 + 2)
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

it('a function that answers just within ten seconds is heard', async () => {
  const clock = fakeClock()
  const [old, current] = [rsaPair().privateKey, rsaPair().privateKey]
  const { promise: answer, resolve: give } = deferred<KeyRing>()
  let isSlow = false
  const keys = () => (isSlow ? answer : Promise.resolve({ current: old }))
  const source = await createSigningKeys(keys, clock, recordingLogger())
  const { kid } = await source.ring()
  isSlow = true
  await clock.advance(120_000)
  const waiting = source.ring().then(
    (ring) => ring.kid,
    () => 'failed',
  )
  await clock.advance(9_999)
  give({ current })
  expect([kid, 'failed']).not.toContain(await waiting)
})

const sample = Buffer.from('data')
const pair = rsaPair()

it('another signer of the same keys is taken once it gave a good signature, and the keys verify meanwhile', async () => {
  const [first, second] = [keyModule(pair.privateKey), keyModule(pair.privateKey)]
  let sign = first.sign
  const clock = fakeClock()
  const logger = recordingLogger()
  const keys = async () => ({ current: pair.publicKey, sign })
  const source = await createSigningKeys(keys, clock, logger)
  const before = await source.ring()
  sign = second.sign
  second.behave('failing')
  await source.reload()
  await (await source.ring()).signer.sign(sample)
  expect([await source.ring(), first.asked.length]).toEqual([before, 2])
  expect(logger.lines.map(({ message }) => message)).toContain(
    'keys.sign is another and gave no good signature',
  )
  // The ring counts as read, so that tokens are verified while no signer answers.
  await clock.advance(119_999)
  expect(source.ringAtHand()).toBe(before)
  second.behave('well')
  await source.reload()
  await (await source.ring()).signer.sign(sample)
  expect([await source.ring(), first.asked.length]).toEqual([before, 2])
})

it('a slow read gives no signer once a newer read gave one', async () => {
  const [first, second, third] = [1, 2, 3].map(() => keyModule(pair.privateKey))
  const answers: (() => void)[] = []
  let sign = first?.sign
  let isSlow = false
  const keys = async () => {
    const ring = { current: pair.publicKey, ...(sign && { sign }) }
    if (isSlow) await new Promise<void>((resolve) => answers.push(resolve))
    return ring
  }
  const source = await createSigningKeys(keys, fakeClock(), recordingLogger())
  sign = second?.sign
  isSlow = true
  const slow = source.reload()
  sign = third?.sign
  isSlow = false
  await source.reload()
  answers[0]?.()
  await slow
  const asked = third?.asked.length ?? 0
  await (await source.ring()).signer.sign(sample)
  expect(third?.asked.length).toBe(asked + 1)
})

it('a signer elsewhere is asked for a signature every five seconds at most, by all that come together', async () => {
  const module = keyModule(pair.privateKey)
  const clock = fakeClock()
  const keys = { current: pair.publicKey, sign: module.sign }
  const source = await createSigningKeys(keys, clock, recordingLogger())
  const begun = module.asked.length
  const require = async () => Promise.all([1, 2, 3].map(() => source.requireSigner()))
  expect(await require()).toEqual([true, true, true])
  await clock.advance(4999)
  await require()
  expect(module.asked.length).toBe(begun + 1)
  module.behave('failing')
  await clock.advance(1)
  await expect(source.requireSigner()).rejects.toMatchObject({ code: 'service_unavailable' })
  await expect(source.requireSigner()).rejects.toMatchObject({ code: 'service_unavailable' })
  module.behave('well')
  await require()
  expect(module.asked.length).toBe(begun + 4)
  const here = await createSigningKeys({ current: pair.privateKey }, clock, recordingLogger())
  expect(await here.requireSigner()).toBe(false)
})
