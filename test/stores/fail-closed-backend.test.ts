import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import type { CounterResult, Denylist } from '../../src/ports/backend.js'
import { failClosedBackend } from '../../src/stores/fail-closed-backend.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { type Sample, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { withCall } from '../support/stores/faulty-backend.js'

/** A backend behind the wrapper, of which one call answers `answer`. */
async function answering(what: string, answer: unknown) {
  const logged: string[] = []
  const log = (message: string): void => void logged.push(message)
  const logger = { debug: log, info: log, warn: log, error: log }
  // What an adapter without types may answer.
  const inner = withCall(memory(), async (name, work) =>
    name.endsWith(what) ? (answer as Awaited<ReturnType<typeof work>>) : work(),
  )
  const backend = failClosedBackend(inner, {
    clock: fakeClock(),
    logger,
    timeoutMs: 1000,
    later: setImmediate,
  })
  const spec = sampleSpec('never')
  await backend.store.prepare([spec])
  return { backend, samples: backend.store.collection(spec), logged, name: spec.name }
}

type Answering = Awaited<ReturnType<typeof answering>>

const documentCalls: readonly [string, (given: Answering) => Promise<Sample | null>][] = [
  ['get', ({ samples }) => samples.get('a')],
  ['update', ({ samples }) => samples.update('a', { count: 0 }, { count: 1 })],
  ['take', ({ samples }) => samples.take('a')],
]

const decidingCalls: readonly [string, (given: Answering) => Promise<boolean>][] = [
  ['insert', ({ samples }) => samples.insert(sample('a', { count: 1 }))],
  ['lease.replace', ({ backend }) => backend.lease.replace('a', null, { owner: 'b', renewal: 1 })],
]

const countingCalls: readonly [string, (given: Answering) => Promise<CounterResult> | undefined][] =
  [
    ['counter.hit', ({ backend }) => backend.counter.hit('a', 1000, 1, 0)],
    ['counter.add', ({ backend }) => backend.counter.add?.('a', 1000, 1, 0, 1)],
  ]

/** A denylist behind the wrapper, and what was logged. */
function wrappedDenylist(find: Denylist['find']) {
  const logged: string[] = []
  const log = (message: string): void => void logged.push(message)
  const own = memory()
  const backend = failClosedBackend(
    { ...own, denylist: { ...own.denylist, find } },
    {
      clock: fakeClock(),
      logger: { debug: log, info: log, warn: log, error: log },
      timeoutMs: 1000,
      later: setImmediate,
    },
  )
  return { find: backend.denylist.find, logged }
}

const entry = { id: 'a', reason: 'revoked', expiresAt: 1 } as const

describe('a denylist through the fail-closed wrapper', () => {
  it('hands on what is answered at once', async () => {
    const { denylist } = memory()
    await denylist.put([entry])
    const { find } = wrappedDenylist(denylist.find)
    for (const [id, entries] of [
      ['a', [entry]],
      ['b', []],
    ] as const) {
      const answer = find([id])
      expect(answer.atOnce).toEqual({ value: entries })
      expect(await answer).toEqual(entries)
    }
  })

  it('waits for a promise that says nothing at once', async () => {
    const answer = wrappedDenylist(async () => [entry]).find(['a'])
    expect(answer.atOnce).toBeUndefined()
    expect(await answer).toEqual([entry])
  })

  it.each([
    () => {
      throw new Error('down')
    },
    () => Promise.reject(new Error('down')),
  ])('that fails is a failing store, asked once', async (fails) => {
    let asked = 0
    const { find, logged } = wrappedDenylist(() => {
      asked += 1
      return fails()
    })
    await expect(find(['a'])).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(logged).toEqual(['the store failed: denylist.find'])
    expect(asked).toBe(1)
  })
})

describe.each(documentCalls)('%s through the fail-closed wrapper', (what, call) => {
  it.each(['taken', true, false, undefined, 1, {}, { id: 'b', count: 1 }])(
    'that answers %j is a failing store',
    async (answer) => {
      const given = await answering(`.${what}`, answer)
      await expect(call(given)).rejects.toMatchObject({ code: 'service_unavailable' })
      expect(given.logged).toEqual([`the store failed: ${given.name}.${what}`])
    },
  )

  it.each([null, sample('a', { count: 1 })])('that answers %j hands it on', async (answer) => {
    const given = await answering(`.${what}`, answer)
    expect(await call(given)).toBe(answer)
    expect(given.logged).toEqual([])
  })
})

describe.each(decidingCalls)('%s through the fail-closed wrapper', (what, call) => {
  it.each([undefined, null, 0, 1, 'OK', {}])(
    'that answers %j is a failing store',
    async (answer) => {
      await expect(call(await answering(what, answer))).rejects.toMatchObject({
        code: 'service_unavailable',
      })
    },
  )

  it.each([true, false])('that answers %j hands it on', async (answer) => {
    expect(await call(await answering(what, answer))).toBe(answer)
  })
})

describe.each(countingCalls)('%s through the fail-closed wrapper', (what, call) => {
  it.each([
    ...[undefined, null, 1, true, {}, { allowed: true }, { allowed: 1, count: 1, resetsAt: 0 }],
    ...[
      { allowed: true, count: '1', resetsAt: 0 },
      { allowed: true, count: 1 },
    ],
  ])('that answers %j is a failing store', async (answer) => {
    await expect(call(await answering(what, answer))).rejects.toMatchObject({
      code: 'service_unavailable',
    })
  })

  it('that answers a window hands it on', async () => {
    const answer = { allowed: false, count: 1, resetsAt: 1000 }
    expect(await call(await answering(what, answer))).toEqual(answer)
  })
})
