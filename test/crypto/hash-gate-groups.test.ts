import { describe, expect, test } from 'vitest'
import { type HashGateOptions, type HashLine, hashGate } from '../../src/crypto/hash-gate.js'
import { AuthError } from '../../src/errors/index.js'
import { fakeClock } from '../../src/testing/fake-clock.js'

type Holder = HashLine['holder']

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
const busy = 'server_busy'

/** A gate of one place that is taken: what is asked for waits, until `letGo` serves it all in turn. */
async function busyGate(options: Omit<HashGateOptions, 'clock' | 'concurrency'> = {}) {
  const clock = fakeClock()
  const run = hashGate({ concurrency: 1, clock, ...options })
  const begun: string[] = []
  let free = (): void => {}
  void run(
    { holder: 'host', name: 'first' },
    () => new Promise<void>((resolve) => (free = resolve)),
  )
  const refused: string[] = []

  /** A request of `group` in a line of its own, or in the line `name` of that group. */
  function ask(label: string, group: string, name = label, holder: Holder = 'client'): void {
    const work = async () => {
      begun.push(label)
    }
    run({ holder, name, group }, work).catch((error: unknown) => {
      if (!(error instanceof AuthError)) throw error
      refused.push(`${label} ${error.code}`)
    })
  }

  async function letGo(): Promise<readonly string[]> {
    free()
    for (let turn = 0; turn < 200; turn += 1) await settle()
    return begun
  }

  return { ask, letGo, refused, clock }
}

describe('groups of lines at the hash gate', () => {
  test('take turns, and the lines of each in theirs', async () => {
    const { ask, letGo } = await busyGate()
    for (const n of [1, 2, 3]) ask(`a${n}`, 'a')
    ask('a1 again', 'a', 'a1')
    ask('b1', 'b')
    expect(await letGo()).toEqual(['a1', 'b1', 'a2', 'a3', 'a1 again'])
  })

  test('of one name are two for two holders', async () => {
    const { ask, letGo } = await busyGate()
    for (const n of [1, 2]) ask(`client${n}`, 'g', `c${n}`)
    ask('operator', 'g', 'o', 'operator')
    expect(await letGo()).toEqual(['client1', 'operator', 'client2'])
  })

  test('a line that waits in vain leaves its group, and the next of the group is served', async () => {
    const { ask, letGo, clock, refused } = await busyGate()
    ask('a1', 'a')
    await clock.advance(1_000)
    ask('a2', 'a')
    ask('b1', 'b')
    await clock.advance(1_000)
    await settle()
    expect(refused).toEqual([`a1 ${busy}`])
    expect(await letGo()).toEqual(['a2', 'b1'])
  })

  test('where no line is longer than the newcomer’s, the newest of the largest group gives way', async () => {
    const { ask, letGo, refused } = await busyGate({ queue: 8 })
    for (const n of [1, 2, 3, 4]) ask(`a${n}`, 'a')
    for (const n of [1, 2]) ask(`b${n}`, 'b')
    ask('o1', 'o', 'o1', 'operator')
    ask('o2', 'o', 'o2', 'operator')
    ask('c1', 'c', 'c1', 'host')
    await settle()
    expect(refused).toEqual([`a4 ${busy}`])
    // One more than a group of the newcomer’s is not enough: it would be as large then.
    ask('b3', 'b')
    ask('c2', 'c', 'c2', 'host')
    await settle()
    expect(refused.slice(1)).toEqual([`b3 ${busy}`, `a3 ${busy}`])
    expect(await letGo()).toEqual(['a1', 'b1', 'o1', 'c1', 'a2', 'b2', 'o2', 'c2'])
  })

  test('of groups of one size, and of their lines, the last one gives way', async () => {
    const { ask, letGo, refused } = await busyGate({ queue: 4 })
    for (const n of [1, 2]) ask(`a${n}`, 'a')
    for (const n of [1, 2]) ask(`o${n}`, 'o', `o${n}`, 'operator')
    ask('host', 'h', 'h', 'host')
    await settle()
    expect(refused).toEqual([`o2 ${busy}`])
    expect(await letGo()).toEqual(['a1', 'o1', 'host', 'a2'])
  })

  test('of lines of one length, the last one gives way', async () => {
    const { ask, letGo, refused } = await busyGate({ queue: 4 })
    for (const n of [1, 2]) ask(`a${n}`, 'a', 'a')
    for (const n of [1, 2]) ask(`o${n}`, 'o', 'o', 'operator')
    ask('host', 'h', 'h', 'host')
    await settle()
    expect(refused).toEqual([`o2 ${busy}`])
    expect(await letGo()).toEqual(['a1', 'o1', 'host', 'a2'])
  })

  test('a line that is longer by one than the newcomer’s keeps its place', async () => {
    const { ask, letGo, refused } = await busyGate({ queue: 8 })
    for (const n of [1, 2]) ask(`a${n}`, 'a', 'a')
    for (const n of [1, 2]) ask(`b${n}`, 'b', 'b')
    for (const n of [1, 2, 3, 4]) ask(`h${n}`, 'h', n > 3 ? 'h1' : `h${n}`, 'host')
    ask('b3', 'b', 'b')
    await settle()
    expect(refused).toEqual([`h4 ${busy}`])
    expect(await letGo()).toEqual(['a1', 'b1', 'h1', 'a2', 'b2', 'h2', 'b3', 'h3'])
  })
})

describe('figures of the hash gate', () => {
  test('tell what waits, how long it waited and why it was refused', async () => {
    const told: unknown[] = []
    const metrics = {
      waiting: (holder: Holder, change: number) => told.push([holder, 'waits', change]),
      started: (holder: Holder, ms: number) => told.push([holder, 'started', ms]),
      refused: (holder: Holder, reason: string) => told.push([holder, 'refused', reason]),
    }
    const { ask, letGo, clock } = await busyGate({ queue: 2, metrics })
    ask('a1', 'a')
    await clock.advance(1_500)
    ask('o1', 'o', 'o1', 'operator')
    ask('o2', 'o', 'o2', 'operator')
    await clock.advance(500)
    ask('h1', 'h', 'h1', 'host')
    ask('o3', 'o', 'o1', 'operator')
    await letGo()
    expect(told).toEqual([
      ['host', 'started', 0],
      ['client', 'waits', 1],
      ['operator', 'waits', 1],
      ['operator', 'refused', 'full'],
      ['client', 'waits', -1],
      ['client', 'refused', 'late'],
      ['host', 'waits', 1],
      ['operator', 'refused', 'full'],
      ['operator', 'waits', -1],
      ['operator', 'started', 500],
      ['host', 'waits', -1],
      ['host', 'started', 0],
    ])
  })

  test('a clock that is set back makes no negative time of waiting', async () => {
    const waited: number[] = []
    let now = 10_000
    const clock = { now: () => now, after: () => () => {} }
    const started = (_: Holder, ms: number) => waited.push(ms)
    const metrics = { waiting: () => {}, refused: () => {}, started }
    const run = hashGate({ concurrency: 1, clock, metrics })
    let free = (): void => {}
    void run({ holder: 'host', name: 'a' }, () => new Promise<void>((resolve) => (free = resolve)))
    const second = run({ holder: 'host', name: 'b' }, async () => {})
    await settle()
    now = 4_000
    free()
    await second
    expect(waited).toEqual([0, 0])
  })

  test('what gives way is counted as refused and leaves the line', async () => {
    const told: unknown[] = []
    const metrics = {
      waiting: (holder: Holder, change: number) => told.push([holder, change]),
      started: () => {},
      refused: (holder: Holder, reason: string) => told.push([holder, reason]),
    }
    const { ask } = await busyGate({ queue: 3, metrics })
    for (const n of [1, 2, 3]) ask(`a${n}`, 'a', 'a', 'client')
    ask('o', 'o', 'o', 'operator')
    await settle()
    expect(told).toEqual([
      ...[
        ['client', 1],
        ['client', 1],
        ['client', 1],
      ],
      ...[
        ['client', -1],
        ['client', 'full'],
        ['operator', 1],
      ],
    ])
  })
})
