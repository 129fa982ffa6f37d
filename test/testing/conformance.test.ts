import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { conformance } from '../../src/testing/index.js'

const openMemory = () => ({ backend: memory() })
const noDriver = 'it lives in this process and has no connection to lose'

describe('conformance', () => {
  const cases = conformance({ open: ({ through }) => ({ backend: through(memory()) }) })

  it('names each case once and tells what it promises', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
    for (const { promise, group } of cases) expect(promise && group).toMatch(/\w/)
    expect(cases.every(({ skip }) => skip === false)).toBe(true)
  })

  it('gives the written reason with each case of a skipped group', () => {
    const skip = { failures: noDriver, 'get of an unknown id answers null': 'shown elsewhere' }
    const skipped = conformance({ open: openMemory, skip }).filter((one) => one.skip !== false)
    expect(skipped.map((one) => one.skip)).toEqual([
      'shown elsewhere',
      ...Array.from({ length: 7 }, () => noDriver),
    ])
  })

  it.each([
    [{ 'no such case': 'reason' }, /"no such case" is neither a case nor a group/],
    [{ failures: ' ' }, /"failures" needs a written reason/],
  ])('refuses to skip %j', (skip, message) => {
    expect(() => conformance({ open: openMemory, skip })).toThrow(message)
  })

  it('skips what asks for an optional method of a backend without it, and says why', async () => {
    const { hit, forgive, sweep } = memory().counter
    const without = { ...memory(), counter: { hit, forgive, sweep } }
    const skipped: string[] = []
    const cases = conformance({ open: ({ through }) => ({ backend: through(without) }) })
    for (const { name, run } of cases.filter((one) => /\badd(ed|itions)?\b/.test(one.name))) {
      await run({ skip: (reason) => void skipped.push(`${name}: ${reason}`) })
      // Without a runner that could be told, the case passes.
      await run()
    }
    expect(skipped).toHaveLength(10)
    for (const one of skipped) expect(one).toMatch(/: the counter has no `add`, which is optional$/)
  })

  it('asks for a way to break a backend whose client did not pass through the kit', async () => {
    const broken = conformance({ open: openMemory }).filter(({ group }) => group === 'failures')
    for (const { run } of broken) await expect(run()).rejects.toThrow(/skip "failures"/)
  })

  it('breaks the backend as its author asks, and closes it after each case', async () => {
    const told: string[] = []
    const opened = conformance({
      open: () => ({
        backend: memory(),
        breakBackend: () => void told.push('broken'),
        close: () => void told.push('closed'),
      }),
    })
    const [reads] = opened.filter(({ group }) => group === 'failures')
    await expect(reads?.run()).rejects.toThrow(/get on a failing backend must reject/)
    expect(told).toEqual(['broken', 'closed'])
  })

  it('says which promise was broken, and what differed', async () => {
    const right = memory()
    const wrong = {
      ...right,
      lease: { ...right.lease, read: async () => ({ owner: 'x', renewal: 1 }) },
    }
    const [first] = conformance({ open: () => ({ backend: wrong }) }).filter(
      ({ group }) => group === 'lease',
    )
    await expect(first?.run()).rejects.toMatchObject({
      message: expect.stringContaining('promise: Lease: replace needs exactly the record it saw'),
      expected: null,
    })
  })
})
