import { describe, expect, it } from 'vitest'
import { beginning, registrationKeys, registrationLifeMs } from '../../src/engine/accounts.js'
import { keptKeys, keysIn, recognitionIds } from '../../src/engine/login-risk-rules.js'

const key = (letter: string, length = 22) => letter.repeat(length)

describe('the keys that a browser keeps', () => {
  it('are those of the right form, each once, four at most', () => {
    expect(keysIn(null, 3)).toEqual([])
    expect(keysIn('', 3)).toEqual([])
    expect(keysIn('aaa.bb.cccc.d-_.e e.aaa.é12', 3)).toEqual(['aaa', 'd-_'])
    expect(keysIn('aa .!bb.cc9', 3)).toEqual(['cc9'])
    expect(keysIn('a.b.c.d.e', 1)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('are looked for in the first kilobyte', () => {
    expect(keysIn(`${'.'.repeat(1021)}aaa`, 3)).toEqual(['aaa'])
    expect(keysIn(`${'.'.repeat(1022)}aaa`, 3)).toEqual([])
  })

  it('give way to newer ones', () => {
    expect(keptKeys('new', [])).toBe('new')
    expect(keptKeys('new', ['a', 'b', 'c', 'd'])).toBe('new.a.b.c')
  })

  it('are of 22 characters for recognition, of 43 for registrations', () => {
    const kept = [key('r'), key('k', 43), key('x', 21)].join('.')
    expect(recognitionIds(kept)).toEqual([key('r')])
    expect(registrationKeys(kept)).toEqual([key('k', 43)])
  })
})

describe('a link that makes an account', () => {
  it.each([
    [true, true, 'named'],
    [false, true, 'named'],
    [true, false, 'registered'],
    [false, false, 'ask'],
  ] as const)('registered here: %s, password named: %s: %s', (has, names, how) => {
    expect(beginning(has, names)).toBe(how)
  })

  it('lives as long as mails to its address are counted', () => {
    expect([registrationLifeMs(5, 3), registrationLifeMs(3, 5)]).toEqual([5, 5])
  })
})
