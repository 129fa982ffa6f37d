import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as memory from '../adapters/memory/index.js'
import * as config from '../src/config/index.js'
import * as index from '../src/index.js'
import * as openapi from '../src/openapi/index.js'
import * as testing from '../src/testing/index.js'
import { currentFacts, defaultHostFacts, firstFacts, renewed } from '../tools/api/default-host.js'
import { currentEvents } from '../tools/events.js'

const golden = readFileSync(new URL('default-host.golden.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean)
/** Of the facts of commit a2ca01c6. */
const firstDigest = '9b785a12afbdd7edb4f73d082e6ad0ed7f0e3232f03ffd8de902a80262187bd2'

describe('a host that sets none of the newer options', () => {
  it('shows what it did before, but for what rulings changed', async () => {
    const library = { ...index, ...config, ...openapi, ...testing, ...memory }
    expect(await defaultHostFacts(library, currentEvents())).toEqual(currentFacts(golden))
  })

  it('has a golden text whose every change names its ruling', () => {
    const first = firstFacts(golden).join('\n')
    expect(createHash('sha256').update(first).digest('hex')).toBe(firstDigest)
  })
})

describe('renewing the golden text', () => {
  const before = ['code one: 400', 'code two: 404', 'code three: 409 # ruling 22']

  it('changes no line without a ruling', () => {
    const facts = currentFacts(before)
    expect(renewed(before, facts, null)).toEqual(before.toSorted())
    for (const changed of [
      [...facts, 'code four: 422'],
      facts.slice(1),
      ['code one: 401', ...facts],
    ]) {
      expect(() => renewed(before, changed, null)).toThrow('name the ruling')
    }
  })

  it('names the ruling of what is new and of what is gone, and keeps those that are named', () => {
    const after = renewed(before, ['code one: 400', 'code three: 409', 'code two: 403'], '31')
    expect(after).toEqual([
      'code one: 400',
      'code three: 409 # ruling 22',
      'code two: 403 # ruling 31',
      'gone code two: 404 # ruling 31',
    ])
    expect(firstFacts(after)).toEqual(firstFacts(before))
    const again = renewed(after, ['code one: 400', 'code three: 410', 'code two: 404'], '40')
    expect(again).toEqual(['code one: 400', 'code three: 410 # ruling 40', 'code two: 404'])
  })
})
