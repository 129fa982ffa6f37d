import { describe, expect, test } from 'vitest'
import {
  argon2Ceiling,
  argon2ParamsProblem,
  defaultArgon2Params,
} from '../../src/engine/passwords.js'

const problem = (memoryCost: number, timeCost: number, parallelism = 1, allowWeak = false) =>
  argon2ParamsProblem({ memoryCost, timeCost, parallelism }, allowWeak)

describe('the floor of argon2 costs', () => {
  test('the default is OWASP’s and stands on the floor', () => {
    expect(defaultArgon2Params).toEqual({ memoryCost: 19_456, timeCost: 2, parallelism: 1 })
    expect(argon2ParamsProblem(defaultArgon2Params, false)).toBeNull()
  })

  test.each([
    [47_104, 1],
    [19_456, 2],
    [12_288, 3],
    [12_288, 10],
    [1_048_576, 64],
  ])('m=%d t=%d is enough, one KiB less may not be', (memoryCost, timeCost) => {
    expect(problem(memoryCost, timeCost)).toBeNull()
  })

  test.each([
    [47_103, 1],
    [19_455, 2],
    [12_287, 3],
    [12_287, 10],
    [19_456, 1],
  ])('m=%d t=%d is too weak', (memoryCost, timeCost) => {
    expect(problem(memoryCost, timeCost)).toMatch(
      /^needs a memoryCost \(KiB\) from \d+ to 1048576 at/,
    )
  })

  test('tests may drop the floor, not the bounds', () => {
    expect(problem(8, 1, 1, true)).toBeNull()
    expect(problem(7, 1, 1, true)).toMatch(/memoryCost/)
    expect(problem(31, 1, 4, true)).toMatch(/memoryCost/)
    expect(problem(argon2Ceiling.memoryCost + 1, 2)).toMatch(/memoryCost/)
    expect(problem(19_456, 65)).toMatch(/timeCost/)
    expect(problem(19_456, 0, 1, true)).toMatch(/timeCost/)
    expect(problem(19_456, 2, 17)).toMatch(/parallelism/)
    expect(problem(19_456, 2, 0)).toMatch(/parallelism/)
    expect(problem(19_456.5, 2)).toMatch(/memoryCost/)
    expect(problem(Number.NaN, 2)).toMatch(/memoryCost/)
  })
})
