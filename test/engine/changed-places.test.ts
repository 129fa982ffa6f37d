import { expect, it } from 'vitest'
import { changedPlaces, clientMark, isSameClient } from '../../src/engine/login-risk-rules.js'

it.each([
  ['c', ['n', 'a'], 'c', ['n', 'a'], []],
  ['c', ['n', 'a'], 'd', ['n', 'a'], []],
  ['c', ['n', 'a'], 'c', ['m', 'a'], ['network']],
  ['c', ['n', 'a'], 'c', ['n', 'b'], ['userAgent']],
  ['c', ['n', 'a'], 'c', ['m', 'b'], ['network', 'userAgent']],
  ['c', [], 'c', ['n', 'a'], []],
  ['c', ['n', 'a'], 'c', [], []],
  ['c', [], 'd', [], []],
] as const)('from %s at %j to %s at %j changed %j', (one, from, other, to, changed) => {
  const [before, now] = [clientMark(one, from), clientMark(other, to)]
  expect(changedPlaces(before, now)).toEqual(changed)
  expect(isSameClient(before, now)).toBe(one === other)
})
