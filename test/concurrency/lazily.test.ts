import { expect, it } from 'vitest'
import { lazily } from '../../src/concurrency/promises.js'

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
