import { expect, it } from 'vitest'
import { createSharedWork } from '../../src/concurrency/promises.js'

it('shares work that is under way, by its name, and no longer than that', async () => {
  const shared = createSharedWork<number>()
  let begun = 0
  const work = async () => {
    begun += 1
    return begun
  }
  const [first, second, other] = await Promise.all([
    shared('one', work),
    shared('one', work),
    shared('two', work),
  ])
  expect(first).toEqual({ value: 1, isShared: false })
  expect(second).toEqual({ value: 1, isShared: true })
  expect(other).toEqual({ value: 2, isShared: false })
  expect(await shared('one', work)).toEqual({ value: 3, isShared: false })
})

it('shares no failure: the next of those that waited begins again', async () => {
  const shared = createSharedWork<string>()
  let begun = 0
  const work = async () => {
    begun += 1
    if (begun === 1) throw new Error('busy')
    return 'done'
  }
  const results = await Promise.allSettled([1, 2, 3].map(() => shared('one', work)))
  expect(results).toEqual([
    { status: 'rejected', reason: new Error('busy') },
    { status: 'fulfilled', value: { value: 'done', isShared: false } },
    { status: 'fulfilled', value: { value: 'done', isShared: true } },
  ])
  expect(begun).toBe(2)
})
