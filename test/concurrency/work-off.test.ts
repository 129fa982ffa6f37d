import { describe, expect, it } from 'vitest'
import { workOff } from '../../src/concurrency/promises.js'

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
  })

  it('goes on beside an item that fails, of which the call tells', async () => {
    const queue = queueOf(20)
    const one = async (item: number) => {
      await queue.one(item)
      if (item === 3) throw new Error('of item 3')
    }
    await expect(workOff(queue.due, one)).rejects.toThrow('of item 3')
    expect(queue.left).toEqual([])
  })
})
