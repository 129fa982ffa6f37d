import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { openCollections } from '../../../src/domain/context/open-collections.js'
import { createRateLimiter } from '../../../src/domain/limits/rate-limiter.js'
import { createMisuseAlarm } from '../../../src/domain/sessions/misuse-alarm.js'
import type { EndReason } from '../../../src/ports/events.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'

const id = '01940000-0000-7000-8000-00000000000a'

/** The alarm, and a session whose row was revoked for this reason. */
async function revokedFor(revokedReason: EndReason) {
  const [surface, clock, { store, counter }] = ['client', fakeClock(), memory()] as const
  const collections = openCollections(store, surface, '')
  const at = clock.now()
  await collections.families.insert({
    ...{ id, userId: id, loginAt: at, sessionEpoch: 0, generation: 3, rotatedAt: at },
    ...{ rotatedTo: 'jti', noReissueUpTo: 0, rotatedBy: '', delivery: 'body' },
    ...{ expiresAt: at + 60_000, revokedAt: at, revokedReason },
  })
  const deps = { surface, clock, counter, logger: recordingLogger(), overrides: {} } as const
  return createMisuseAlarm({ collections, emit: () => {}, limits: createRateLimiter(deps) })
}

it('of several requests that saw a replay, one raises the alarm that another ending kept back', async () => {
  const alarm = await revokedFor('admin')
  const owed = await Promise.all([1, 2, 3].map(() => alarm.isOwed(id)))
  expect(owed.filter(Boolean)).toEqual([true])
})

it.each(['replay', 'max_age'] as const)(
  'no alarm is owed where the row says that the session ended by %s',
  async (reason) => {
    expect(await (await revokedFor(reason)).isOwed(id)).toBe(false)
  },
)
