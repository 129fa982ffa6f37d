import { describe, expect, test } from 'vitest'
import { type HashGateOptions, type HashLine, hashGate } from '../../src/crypto/hash-gate.js'
import { AuthError, OptionsError } from '../../src/errors/index.js'
import type { Clock } from '../../src/ports/host.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { anyLine } from '../support/hash-line.js'

/** Work that the test starts and ends: each job is named when it starts and waits for its end. */
function workshop() {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    job: (name: string) => () => {
      started.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    },
    async end(name: string) {
      ends.get(name)?.()
      await settle()
    },
  }
}

/** A gate, and one line at it. */
function oneLine(options: HashGateOptions) {
  const run = hashGate(options)
  return <T>(work: () => Promise<T>) => run(anyLine, work)
}

/** Lets everything that can go on go on; nothing here waits for real time. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

function outcome(promise: Promise<unknown>): { now: unknown } {
  const seen: { now: unknown } = { now: 'pending' }
  promise.then(
    (value) => {
      seen.now = value
    },
    (error: unknown) => {
      seen.now = error instanceof AuthError ? `${error.code} ${error.retryAfter}` : error
    },
  )
  return seen
}

describe('hashGate', () => {
  test('runs at most `concurrency` at once, the others in order of arrival', async () => {
    const { started, job, end } = workshop()
    const run = oneLine({ concurrency: 2, clock: fakeClock() })
    const results = ['a', 'b', 'c', 'd', 'e'].map((name) => run(job(name)))
    await settle()
    expect(started).toEqual(['a', 'b'])
    await end('b')
    expect(started).toEqual(['a', 'b', 'c'])
    await end('a')
    await end('c')
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e'])
    await end('d')
    await end('e')
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('a newcomer never overtakes who waits, not even at the moment a place falls free', async () => {
    const { started, job, end } = workshop()
    const run = oneLine({ concurrency: 1, clock: fakeClock() })
    void run(job('a')).then(() => run(job('c')))
    void run(job('b'))
    await settle()
    await end('a')
    expect(started).toEqual(['a', 'b'])
    await end('b')
    expect(started).toEqual(['a', 'b', 'c'])
  })

  test('refuses at once with server_busy, retry after 1 s, when the queue is full', async () => {
    const { started, job, end } = workshop()
    const run = oneLine({ concurrency: 1, queue: 2, clock: fakeClock() })
    const results = ['a', 'b', 'c', 'd', 'e'].map((name) => outcome(run(job(name))))
    await settle()
    expect(results.map(({ now }) => now)).toEqual([
      ...['pending', 'pending', 'pending', 'server_busy 1', 'server_busy 1'],
    ])
    await end('a')
    void run(job('f'))
    await end('b')
    await end('c')
    await end('f')
    expect(started).toEqual(['a', 'b', 'c', 'f'])
  })

  test('64 may wait by default, 56 of one surface, and none at all with a queue of 0', async () => {
    const { job } = workshop()
    const run = oneLine({ concurrency: 1, clock: fakeClock() })
    const results = Array.from({ length: 66 }, (_, i) => outcome(run(job(`${i}`))))
    await settle()
    expect(results.filter(({ now }) => now === 'pending')).toHaveLength(57)
    const none = oneLine({ concurrency: 1, queue: 0, clock: fakeClock() })
    void none(job('x'))
    await expect(none(job('y'))).rejects.toMatchObject({ code: 'server_busy', retryAfter: 1 })
  })

  test('none waits longer than 2 s; who gave up is skipped and does not run', async () => {
    const { started, job, end } = workshop()
    const clock = fakeClock()
    const run = oneLine({ concurrency: 1, clock })
    void run(job('a'))
    const b = outcome(run(job('b')))
    await clock.advance(1_000)
    const c = outcome(run(job('c')))
    await settle()
    await clock.advance(999)
    expect([b.now, c.now]).toEqual(['pending', 'pending'])
    await clock.advance(1)
    expect([b.now, c.now]).toEqual(['server_busy 1', 'pending'])
    await end('a')
    expect(started).toEqual(['a', 'c'])
    await clock.advance(60_000)
    await end('c')
    expect(c.now).toBe('c')
  })

  test('leaves no timer behind', async () => {
    const { job, end } = workshop()
    const clock = fakeClock()
    const timers = new Set<object>()
    const watched: Clock = {
      now: clock.now,
      after(ms, run) {
        const timer = {}
        timers.add(timer)
        const cancel = clock.after(ms, () => {
          timers.delete(timer)
          run()
        })
        return () => {
          timers.delete(timer)
          cancel()
        }
      },
    }
    const run = oneLine({ concurrency: 1, clock: watched })
    void run(job('a'))
    void run(job('b'))
    const c = outcome(run(job('c')))
    await settle()
    expect(timers.size).toBe(2)
    await end('a')
    expect(timers.size).toBe(1)
    await clock.advance(2_000)
    expect(c.now).toBe('server_busy 1')
    expect(timers.size).toBe(0)
  })

  test('work that rejects, or throws before its first await, frees its place', async () => {
    const { started, job, end } = workshop()
    const run = oneLine({ concurrency: 1, clock: fakeClock() })
    const failures = [
      run(() => Promise.reject(new Error('rejected'))),
      run(() => {
        throw new Error('thrown')
      }),
    ]
    const last = run(job('last'))
    expect(await Promise.allSettled(failures)).toMatchObject([
      { reason: { message: 'rejected' } },
      { reason: { message: 'thrown' } },
    ])
    await settle()
    expect(started).toEqual(['last'])
    await end('last')
    expect(await last).toBe('last')
  })

  test('500 at once never exceed the limit, and every one is answered', async () => {
    let running = 0
    let peak = 0
    const run = oneLine({ concurrency: 3, queue: 64, clock: fakeClock() })
    const answers = await Promise.allSettled(
      Array.from({ length: 500 }, () =>
        run(async () => {
          running += 1
          peak = Math.max(peak, running)
          await settle()
          running -= 1
        }),
      ),
    )
    expect(peak).toBe(3)
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(59)
    expect(running).toBe(0)
  })

  test.each([
    ['concurrency', 0],
    ['concurrency', 1.5],
    ['concurrency', 1_025],
    ['queue', -1],
    ['queue', 10_001],
    ['maxWaitMs', 0],
    ['maxWaitMs', 60_001],
    ['maxWaitMs', Number.NaN],
  ])('refuses %s = %d', (option, value) => {
    const options = { concurrency: 1, clock: fakeClock(), [option]: value }
    expect(() => hashGate(options)).toThrow(OptionsError)
    expect(() => hashGate(options)).toThrow(`"hash.${option}" must be a whole number from`)
  })
})

describe('lines at the hash gate', () => {
  const of = (name: string, holder: HashLine['holder'] = 'client'): HashLine => ({ holder, name })

  /** One job runs; what is asked for after that waits. Every job ends by itself once it was begun. */
  async function busyGate(queue?: number) {
    const begun: string[] = []
    let free = (): void => {}
    const run = hashGate({ concurrency: 1, clock: fakeClock(), ...(queue ? { queue } : {}) })
    void run(of('first'), () => new Promise<void>((resolve) => (free = resolve)))
    const ask = (line: HashLine, label: string) =>
      outcome(
        run(line, async () => {
          begun.push(label)
        }),
      )
    async function letGo() {
      free()
      for (let turn = 0; turn < 200; turn += 1) await settle()
      return begun
    }
    return { ask, letGo }
  }

  test('take turns, one each, whatever their lengths', async () => {
    const { ask, letGo } = await busyGate()
    for (const n of [1, 2, 3, 4]) ask(of('a'), `a${n}`)
    for (const n of [1, 2]) ask(of('b'), `b${n}`)
    ask(of('a', 'operator'), 'operator')
    ask(of('', 'host'), 'host')
    expect(await letGo()).toEqual(['a1', 'b1', 'operator', 'host', 'a2', 'b2', 'a3', 'a4'])
  })

  test('a newcomer waits for one turn of each line, and not for the length of any', async () => {
    const { ask, letGo } = await busyGate()
    for (let n = 0; n < 90; n += 1) ask(of('flood'), 'flood')
    ask(of('owner'), 'owner')
    expect((await letGo()).indexOf('owner')).toBe(1)
  })

  test('when the room is used up, the newest of the longest line is refused', async () => {
    const { ask, letGo } = await busyGate(8)
    const waiting = [
      ask(of('a'), 'a1'),
      ask(of('a'), 'a2'),
      ask(of('a'), 'a3'),
      ask(of('b'), 'b1'),
      ask(of('b'), 'b2'),
      ask(of('c', 'operator'), 'c1'),
      ask(of('c', 'operator'), 'c2'),
      ask(of('', 'host'), 'host'),
    ]
    const late = ask(of('d', 'operator'), 'd1')
    await settle()
    const busy = 'server_busy 1'
    expect(waiting.map(({ now }) => now)).toEqual(
      waiting.map((_, index) => (index === 2 ? busy : 'pending')),
    )
    // Of lines of one length, the newcomer is the newest.
    const own = ask(of('b'), 'b3')
    await settle()
    expect([late.now, own.now]).toEqual(['pending', busy])
    expect(await letGo()).toEqual(['a1', 'b1', 'c1', 'host', 'd1', 'a2', 'b2', 'c2'])
  })

  test('one surface fills seven eighths of the room, from however many addresses', async () => {
    const { ask } = await busyGate(16)
    const many = Array.from({ length: 40 }, (_, n) => ask(of(`address ${n}`), `${n}`))
    await settle()
    expect(many.filter(({ now }) => now === 'pending')).toHaveLength(14)
    const others = [ask(of('a', 'operator'), 'o'), ask(of('', 'host'), 'h')]
    await settle()
    expect(others.map(({ now }) => now)).toEqual(['pending', 'pending'])
  })

  test('nothing is lost or run twice, whatever comes, gives up and is refused', async () => {
    const clock = fakeClock()
    const run = hashGate({ concurrency: 2, queue: 12, clock })
    let ran = 0
    let peak = 0
    let running = 0
    const answers = Array.from({ length: 400 }, (_, n) => {
      const holder = (['client', 'operator', 'host'] as const)[n % 3] ?? 'host'
      return run(of(`${n % 7}`, holder), async () => {
        running += 1
        peak = Math.max(peak, running)
        await settle()
        if (n % 5 === 0) await clock.advance(2_000)
        ran += 1
        running -= 1
      })
    })
    const settled = await Promise.allSettled(answers)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(ran)
    expect([peak, running]).toEqual([2, 0])
    expect(await run(of('last'), async () => 'still open')).toBe('still open')
  })
})
