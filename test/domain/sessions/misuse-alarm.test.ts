import { expect, it } from 'vitest'
import { isMisuseOwed } from '../../../src/domain/sessions/refresh.js'
import type { EndReason } from '../../../src/ports/events.js'
import { testContext } from '../../support/test-context.js'

const id = '01940000-0000-7000-8000-00000000000a'

/** The context of a session whose row was revoked for this reason. */
async function revokedFor(revokedReason: EndReason) {
  const ctx = await testContext()
  const at = ctx.clock.now()
  await ctx.collections.families.insert({
    ...{ id, userId: id, loginAt: at, sessionEpoch: 0, generation: 3, rotatedAt: at },
    ...{ rotatedTo: 'jti', noReissueUpTo: 0, rotatedBy: '', delivery: 'body' },
    ...{ shown: 0, device: null, byDevice: false },
    ...{ expiresAt: at + 60_000, revokedAt: at, revokedReason },
  })
  return ctx
}

it('of several requests that saw a replay, one raises the alarm that another ending kept back', async () => {
  const ctx = await revokedFor('admin')
  const owed = await Promise.all([1, 2, 3].map(() => isMisuseOwed(ctx, id)))
  expect(owed.filter(Boolean)).toEqual([true])
})

it.each(['replay', 'max_age'] as const)(
  'no alarm is owed where the row says that the session ended by %s',
  async (reason) => {
    expect(await isMisuseOwed(await revokedFor(reason), id)).toBe(false)
  },
)
