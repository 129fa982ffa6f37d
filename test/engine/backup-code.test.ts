import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { formatBackupCode, parseBackupCode } from '../../src/engine/factors.js'

describe('a backup code', () => {
  it('is two groups of five, the first character its place in the set', () => {
    const codes = Array.from({ length: 20 }, (_, index) => formatBackupCode(index, randomBytes(9)))
    for (const [index, code] of codes.entries()) {
      expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/)
      expect(parseBackupCode(code)).toEqual({ index, code })
    }
    expect(new Set(codes.map((code) => code.slice(1))).size).toBe(20)
  })

  it('every one of nine random bytes decides a character, all 32 alike', () => {
    const zero = formatBackupCode(3, new Uint8Array(9))
    for (let at = 0; at < 9; at += 1) {
      const bytes = new Uint8Array(9)
      const seen = Array.from({ length: 256 }, (_, value) => {
        bytes[at] = value
        return formatBackupCode(3, bytes)
      })
      expect(new Set(seen).size).toBe(32)
      expect(seen.filter((code) => code === zero)).toHaveLength(8)
    }
  })

  it('is read in any case, with the hyphen or without, and in no other spelling', () => {
    expect(parseBackupCode('3abcd-efghj')).toEqual({ index: 3, code: '3ABCD-EFGHJ' })
    expect(parseBackupCode('3ABCDEFGHJ')).toEqual({ index: 3, code: '3ABCD-EFGHJ' })
    const others = [
      ...['', '3ABCD', '3ABCD-EFGH', '3ABCD-EFGHJK', ' 3ABCD-EFGHJ', '3ABCD-EFGHJ\n'],
      ...[
        '3ABCD--EFGHJ',
        '3ABC-DEFGHJ',
        '3ABCD EFGHJ',
        '3ABCI-EFGHJ',
        '3ABCD-EFGH\0',
        '３ABCD-EFGHJ',
      ],
    ]
    expect(others.filter((typed) => parseBackupCode(typed) !== null)).toEqual([])
  })
})
