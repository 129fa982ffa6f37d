import { expect, it } from 'vitest'
import { describeKey } from '../../../src/cli/keys/describe-key.js'
import type { KeyFile } from '../../../src/cli/keys/key-file.js'
import {
  configRotationStep,
  dated,
  promoted,
  replaced,
  rotationStep,
  withConfigKey,
  withConfigKeyFirst,
  withNext,
} from '../../../src/cli/keys/rotation.js'
import { rsaPair } from '../../crypto/forge.js'

const day = 24 * 60 * 60_000
const policy = { publishedFor: 600_000, keptFor: 31 * day }
const [first, second, third] = [rsaPair(), rsaPair(), rsaPair()].map(({ privateKey }) => privateKey)

function fileOf(pem = first ?? ''): KeyFile {
  return {
    signing: { current: pem },
    configKeys: [{ id: 'one', key: 'a' }],
    dates: { [describeKey(pem).kid]: { madeAt: 0 }, one: { madeAt: 0 } },
  }
}

const kid = (pem = '') => describeKey(pem).kid

it('publishes a key, waits until it is everywhere, and lets it sign then', () => {
  const begun = fileOf()
  expect(rotationStep(begun, 0, policy)).toEqual({ step: 'publish' })
  const published = withNext(begun, second ?? '', 1000)
  expect(published.signing).toEqual({ current: first, next: second })
  expect(rotationStep(published, 1000, policy)).toEqual({ step: 'wait', until: 601_000 })
  expect(rotationStep(published, 600_999, policy)).toEqual({ step: 'wait', until: 601_000 })
  expect(rotationStep(published, 601_000, policy)).toEqual({ step: 'promote' })
})

it('keeps the public half alone of the key that signed before', () => {
  const done = promoted(withNext(fileOf(), second ?? '', 1000), 700_000, policy)
  expect(done.signing).toEqual({
    current: second,
    previous: [describeKey(first ?? '').publicPem],
  })
  expect(JSON.stringify(done)).not.toContain((first ?? '').split('\n')[3])
  expect(done.dates[kid(first)]).toEqual({ madeAt: 0, retiredAt: 700_000 })
  expect(done.dates[kid(second)]).toEqual({ madeAt: 1000 })
})

it('drops a key, with its dates, once it signed nothing for long enough', () => {
  const once = promoted(withNext(fileOf(), second ?? '', 0), 1000, policy)
  const next = withNext(once, third ?? '', 2000)
  const early = promoted(next, 1000 + policy.keptFor - 1, policy)
  expect(early.signing.previous).toEqual(
    [second, first].map((pem) => describeKey(pem ?? '').publicPem),
  )
  const late = promoted(next, 1000 + policy.keptFor, policy)
  expect(late.signing.previous).toEqual([describeKey(second ?? '').publicPem])
  expect(Object.keys(late.dates).sort()).toEqual([kid(second), kid(third), 'one'].sort())
})

it('lets no key sign of which the file does not say since when it is published', () => {
  const byHand = { ...fileOf(), signing: { current: first ?? '', next: second ?? '' } }
  expect(rotationStep(byHand, 5000, policy)).toEqual({ step: 'date' })
  const known = dated(byHand, 5000)
  expect(known).toEqual({ ...byHand, dates: { ...byHand.dates, [kid(second)]: { madeAt: 5000 } } })
  expect(rotationStep(known, 5000, policy)).toEqual({ step: 'wait', until: 605_000 })
  expect(dated(known, 9000)).toEqual(known)
})

it.each([
  ['without any date', {}, 1000],
  ['without the date of its end', { [kid(third)]: { madeAt: 7 } }, 7],
])('drops no key %s before its last token has expired', (_, dates, madeAt) => {
  const { publicPem } = describeKey(third ?? '')
  const file = fileOf()
  const byHand = {
    ...file,
    signing: { current: first ?? '', previous: [publicPem] },
    dates: { ...file.dates, ...dates },
  }
  const published = withNext(byHand, second ?? '', 1000)
  expect(published.dates[kid(third)]).toEqual({ madeAt, retiredAt: 1000 })
  const kept = promoted(published, 1000 + policy.keptFor - 1, policy)
  expect(kept.signing.previous).toContain(publicPem)
  const gone = promoted(published, 1000 + policy.keptFor, policy)
  expect(gone.signing.previous).not.toContain(publicPem)
  // Put into the file when a rotation was under way already.
  const late = { ...withNext(file, second ?? '', 1000), dates: { ...file.dates, ...dates } }
  const done = promoted({ ...late, signing: { ...late.signing, ...byHand.signing } }, 2000, policy)
  expect(done.signing.previous).toContain(publicPem)
  expect(done.dates[kid(third)]).toEqual({ madeAt: madeAt === 7 ? 7 : 2000, retiredAt: 2000 })
})

it('leaves the new key alone after a theft', () => {
  const rotated = withNext(promoted(withNext(fileOf(), second ?? '', 0), 1, policy), first ?? '', 2)
  const safe = replaced(rotated, third ?? '', 3)
  expect(safe.signing).toEqual({ current: third })
  expect(safe.dates).toEqual({ [kid(third)]: { madeAt: 3 }, one: { madeAt: 0 } })
})

it('puts a new configuration key behind the others, and first once every process can know it', () => {
  const quick = { ...policy, publishedFor: 10 }
  expect(configRotationStep(fileOf(), 5, quick)).toEqual({ step: 'publish' })
  const added = withConfigKey(fileOf(), { id: 'two', key: 'b' }, 5)
  expect(added.configKeys.map(({ id }) => id)).toEqual(['one', 'two'])
  expect(added.dates['two']).toEqual({ madeAt: 5 })
  expect(configRotationStep(added, 14, quick)).toEqual({ step: 'wait', until: 15 })
  expect(configRotationStep(added, 15, quick)).toEqual({ step: 'promote' })
  const done = withConfigKeyFirst(added, 16)
  expect(done.configKeys.map(({ id }) => id)).toEqual(['two', 'one'])
  expect(done.dates).toMatchObject({ one: { madeAt: 0, retiredAt: 16 }, two: { madeAt: 5 } })
  expect(configRotationStep(done, 16, quick)).toEqual({ step: 'publish' })
})

it('lets a configuration key wait that was made at the same moment as the first, and once only', () => {
  const added = withConfigKey(fileOf(), { id: 'two', key: 'b' }, 0)
  expect(configRotationStep(added, 0, policy)).toMatchObject({ step: 'wait' })
  const done = withConfigKeyFirst(added, 600_000)
  expect(configRotationStep(done, 600_000, policy)).toEqual({ step: 'publish' })
})

it.each([
  ['no date', undefined],
  ['an older date than the first', { madeAt: -1 }],
])('leaves a configuration key with %s behind the first', (_, given) => {
  const file = fileOf()
  const byHand = {
    ...file,
    configKeys: [...file.configKeys, { id: 'old', key: 'b' }],
    dates: given === undefined ? file.dates : { ...file.dates, old: given },
  }
  expect(configRotationStep(byHand, 5, policy)).toEqual({ step: 'publish' })
  expect(withConfigKeyFirst(byHand, 5)).toBe(byHand)
})

it('takes no key for one that waits where the first one has no date, and waits also if the clock went back', () => {
  const byHand = {
    ...fileOf(),
    configKeys: [
      { id: 'new', key: 'b' },
      { id: 'one', key: 'a' },
    ],
  }
  expect(configRotationStep(byHand, day, policy)).toEqual({ step: 'publish' })
  const added = withConfigKey(byHand, { id: 'next', key: 'c' }, day)
  expect(added.dates).toMatchObject({ new: { madeAt: day }, next: { madeAt: day } })
  expect(configRotationStep(added, day, policy)).toMatchObject({ step: 'wait' })
  const ofLater = { ...fileOf(), dates: { ...fileOf().dates, one: { madeAt: 2 * day } } }
  const behind = withConfigKey(ofLater, { id: 'two', key: 'b' }, day)
  expect(configRotationStep(behind, day, policy)).toMatchObject({ step: 'wait' })
})
