import { describe, expect, it, vi } from 'vitest'
import { conflict, retryOnConflict } from '../../src/stores/retry-on-conflict.js'

const lose = async (): Promise<typeof conflict> => conflict

describe('retryOnConflict', () => {
  it.each([null, false, undefined, 0, 'won'])(
    'ends with the first answer, also %j',
    async (won) => {
      const answers = [conflict, conflict, won]
      const attempt = vi.fn(async () => answers.shift())
      expect(await retryOnConflict(10, attempt)).toBe(won)
      expect(attempt).toHaveBeenCalledTimes(3)
    },
  )

  it.each([1, 2, 5])('takes the answer of attempt %i, the last one', async (attempts) => {
    let count = 0
    const attempt = async () => {
      count += 1
      return count === attempts ? count : conflict
    }
    expect(await retryOnConflict(attempts, attempt)).toBe(attempts)
  })

  it.each([1, 2, 5])('gives up after %i attempts and no more', async (attempts) => {
    const attempt = vi.fn(lose)
    const unavailable = { code: 'service_unavailable' }
    await expect(retryOnConflict(attempts, attempt)).rejects.toMatchObject(unavailable)
    expect(attempt).toHaveBeenCalledTimes(attempts)
  })

  it('answers what the caller has for that case', async () => {
    const attempt = vi.fn(lose)
    expect(await retryOnConflict<number | null>(3, attempt, () => null)).toBeNull()
    expect(attempt).toHaveBeenCalledTimes(3)
  })

  it('makes the next attempt only when the one before has ended', async () => {
    const order: string[] = []
    const attempt = async (): Promise<typeof conflict> => {
      order.push('begins')
      await Promise.resolve()
      order.push('ends')
      return conflict
    }
    await retryOnConflict<null | undefined>(2, attempt, () => null)
    expect(order).toEqual(['begins', 'ends', 'begins', 'ends'])
  })

  it('does not repeat an attempt that failed: its write may have taken effect', async () => {
    const attempt = vi.fn(async () => {
      throw new Error('the connection broke')
    })
    await expect(retryOnConflict(5, attempt)).rejects.toThrow('the connection broke')
    expect(attempt).toHaveBeenCalledTimes(1)
  })
})
