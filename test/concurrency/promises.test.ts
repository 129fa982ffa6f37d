import { describe, expect, it } from 'vitest'
import { createSharedWork, lazily, onceLoaded, workOff } from '../../src/concurrency/promises.js'

it('what is made lazily is made at the first call, once, whatever it is', () => {
  for (const value of [{}, null, undefined, 0]) {
    let made = 0
    const lazy = lazily(() => {
      made += 1
      return value
    })
    expect(made).toBe(0)
    expect([lazy(), lazy()]).toEqual([value, value])
    expect(made).toBe(1)
  }
})

it('what could not be made is made at the next call', () => {
  let fails = true
  const lazy = lazily(() => {
    if (fails) throw new Error('not yet')
    return 'made'
  })
  expect(lazy).toThrow('not yet')
  fails = false
  expect(lazy()).toBe('made')
})

it('loads once for callers side by side and later ones', async () => {
  let loads = 0
  const part = onceLoaded(async () => {
    loads += 1
    return { loads }
  })
  const [first, second] = await Promise.all([part(), part()])
  expect(second).toBe(first)
  expect(await part()).toEqual({ loads: 1 })
})

it('loads again after a failure, which every waiting caller is told', async () => {
  let loads = 0
  const part = onceLoaded(async () => {
    loads += 1
    if (loads === 1) throw new Error('no such file')
    return loads
  })
  const both = await Promise.allSettled([part(), part()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await part()).toBe(2)
})

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

/** So many items, each due until it was worked off. */
function queueOf(count: number) {
  const left = Array.from({ length: count }, (_, item) => item)
  let together = 0
  let most = 0
  return {
    left,
    most: () => most,
    due: async (limit: number) => left.slice(0, limit),
    async one(item: number) {
      together += 1
      most = Math.max(most, together)
      await Promise.resolve()
      together -= 1
      left.splice(left.indexOf(item), 1)
    },
  }
}

describe('work that is due', () => {
  it('is done twenty beside each other, and five hundred in one call', async () => {
    const queue = queueOf(1001)
    expect(await workOff(queue.due, queue.one)).toBe('more')
    expect([queue.left.length, queue.most()]).toEqual([501, 20])
    expect(await workOff(queue.due, queue.one)).toBe('more')
    expect(await workOff(queue.due, queue.one)).toBe('done')
    expect(queue.left).toEqual([])
    // A store lists one less where something went away meanwhile.
    const short = queueOf(30)
    expect(await workOff((limit) => short.due(limit - 1), short.one)).toBe('done')
    expect(short.left).toEqual([])
  })

  it('goes on beside an item that fails and behind it, and tells of it at the end', async () => {
    const queue = queueOf(70)
    const one = async (item: number) => {
      await queue.one(item)
      if (item === 3) throw new Error('of item 3')
    }
    await expect(workOff(queue.due, one)).rejects.toThrow('of item 3')
    expect(queue.left).toEqual([])
  })

  it('stops at once where everything fails', async () => {
    let asked = 0
    const due = async () => {
      asked += 1
      return [1, 2]
    }
    const one = () => Promise.reject(new Error('the store is away'))
    await expect(workOff(due, one)).rejects.toThrow('the store is away')
    expect(asked).toBe(1)
  })
})
