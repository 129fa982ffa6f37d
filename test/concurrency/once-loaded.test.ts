import { expect, it } from 'vitest'
import { onceLoaded } from '../../src/concurrency/promises.js'

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
