import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { interceptBackend } from '../../src/testing/faults/intercept-backend.js'
import { conformance, type Driver } from '../../src/testing/index.js'

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

  const driverGroups = ['failures', 'lost answers', 'crashes', 'interleavings']

  it.each(driverGroups)('%s ask for a client that passes through the kit', async (asking) => {
    const kept = memory()
    const cases = conformance({ open: () => ({ backend: kept }) })
    const asked = cases.filter(({ group }) => group === asking)
    expect(asked.length).toBeGreaterThan(0)
    const remedy = `nothing passed \`through\`, so the kit cannot`
    for (const { run } of asked) {
      await expect(run()).rejects.toThrow(remedy)
      await expect(run()).rejects.toThrow(`or skip "${asking}" with a reason`)
    }
  })

  it.each(driverGroups)(
    '%s with `breakBackend` alone: they pass, or say why not',
    async (asked) => {
      const kept = memory()
      const open = () => {
        let isBroken = false
        const backend = interceptBackend(kept, async (name, work) => {
          if (isBroken) throw new Error(`${name}: no connection`)
          return work()
        })
        const breakBackend = () => {
          isBroken = true
        }
        return { backend, breakBackend }
      }
      const reasons: string[] = []
      const cases = conformance({ open }).filter(({ group }) => group === asked)
      for (const { run } of cases) await run({ skip: (reason) => void reasons.push(reason) })
      expect(reasons).toHaveLength(asked === 'failures' ? 0 : cases.length)
      for (const reason of reasons) expect(reason).toMatch(/^nothing passed `through`, so the kit /)
    },
  )

  it('gives every case the time that its author says', () => {
    expect(new Set(cases.map(({ timeout }) => timeout))).toEqual(new Set([90_000]))
    const patient = conformance({ open: openMemory, timeout: 300_000 })
    expect(new Set(patient.map(({ timeout }) => timeout))).toEqual(new Set([300_000]))
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

  it.each([
    ['by `openAgain`', memory(), ['closed']],
    ['by `open` once more', null, ['closed', 'closed']],
  ])('opens the backend twice, %s, and closes what `open` opened', async (_, again, closings) => {
    const told: string[] = []
    const kept = again ?? memory()
    const open = () => ({
      backend: kept,
      ...(again && { openAgain: () => again }),
      close: () => void told.push('closed'),
    })
    const [first] = conformance({ open }).filter(({ group }) => group === 'processes')
    await first?.run()
    expect(told).toEqual(closings)
  })

  it('asks for `openAgain` where each `open` makes a database of its own', async () => {
    const alone = conformance({ open: openMemory }).filter(({ group }) => group === 'processes')
    expect(alone.length).toBeGreaterThan(0)
    for (const { run } of alone) await expect(run()).rejects.toThrow(/return `openAgain`/)
  })

  it('waits no longer than its author says for racers that hold each other up', async () => {
    const open = ({ through }: Driver) => {
      const { store, ...ports } = memory()
      const driver = through({ ask: () => new Promise<never>(() => {}) })
      const collection: typeof store.collection = (spec) => {
        return { ...store.collection(spec), take: () => driver.ask() }
      }
      return { backend: { ...ports, store: { ...store, collection } } }
    }
    const interleavings = { patience: 1, stuck: 20 }
    const takes = conformance({ open, interleavings }).find(({ name }) => {
      return name === 'interleaved: of two takes, one receives the document'
    })
    await expect(takes?.run()).rejects.toThrow('no racer goes on')
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
