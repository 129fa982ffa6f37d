import { describe, expect, it } from 'vitest'
import { secretMemo } from '../../src/crypto/memos.js'
import { systemRandom } from '../../src/system/machine.js'

const life = 15 * 60 * 1000

describe('what is remembered of a secret', () => {
  it('is this very secret, of this very credential and hash', () => {
    const memo = secretMemo(systemRandom)
    memo.store('id', 'hash', 'secret', 0)
    expect(memo.knows('id', 'hash', 'secret', 1)).toBe(true)
    const others = [
      ['id', 'hash', 'Secret'],
      ['id', 'other', 'secret'],
      ['other', 'hash', 'secret'],
      // Parts that read alike when put together.
      ['idh', 'ash', 'secret'],
      ['id","hash', '', 'secret'],
      ['', '', ''],
    ] as const
    for (const [id, hash, secret] of others) expect(memo.knows(id, hash, secret, 1)).toBe(false)
  })

  it('is gone after fifteen minutes, however often it was asked for, and when a clock steps back', () => {
    const memo = secretMemo(systemRandom)
    memo.store('id', 'hash', 'secret', 1000)
    for (let minute = 1; minute < 15; minute += 1) {
      expect(memo.knows('id', 'hash', 'secret', 1000 + minute * 60_000)).toBe(true)
    }
    expect(memo.knows('id', 'hash', 'secret', 1000 + life)).toBe(false)
    expect(memo.knows('id', 'hash', 'secret', 1000)).toBe(false)
    memo.store('id', 'hash', 'secret', 1000)
    expect(memo.knows('id', 'hash', 'secret', 999)).toBe(false)
  })

  it('is of so many at most: the oldest makes room', () => {
    const memo = secretMemo(systemRandom, 2)
    memo.store('a', 'hash', 'secret', 0)
    memo.store('b', 'hash', 'secret', 0)
    memo.store('a', 'hash', 'secret', 0)
    memo.store('c', 'hash', 'secret', 0)
    const known = ['a', 'b', 'c'].filter((id) => memo.knows(id, 'hash', 'secret', 1))
    expect(known).toEqual(['a', 'c'])
  })

  it('is under a key of the memo’s own, of 32 random bytes', () => {
    const drawn: number[] = []
    const random = {
      bytes(length: number) {
        drawn.push(length)
        return systemRandom.bytes(length)
      },
    }
    const memo = secretMemo(random)
    memo.store('id', 'hash', 'secret', 0)
    expect(drawn).toEqual([32])
    expect(secretMemo(random).knows('id', 'hash', 'secret', 0)).toBe(false)
  })
})
