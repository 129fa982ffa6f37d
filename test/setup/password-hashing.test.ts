import { describe, expect, it } from 'vitest'
import { defaultConcurrency } from '../../src/setup/password-hashing.js'

describe('how many hashes run at once by default', () => {
  it.each([
    [1, undefined, 1],
    [2, undefined, 2],
    [2, '16', 2],
    [2, '3', 2],
    [2, '2', 1],
    [3, undefined, 2],
    [4, undefined, 3],
    [4, '16', 3],
    [64, undefined, 3],
    [64, '16', 3],
    [16, '1024', 3],
    [8, '2', 1],
    [8, '1', 1],
    [8, 'many', 3],
  ])('%i cores, a pool of %s: %i', (cores, pool, expected) => {
    expect(defaultConcurrency(cores, { UV_THREADPOOL_SIZE: pool })).toBe(expected)
  })
})
