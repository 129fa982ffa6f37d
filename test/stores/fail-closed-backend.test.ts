import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import type { Denylist } from '../../src/ports/denylist.js'
import { failClosedBackend } from '../../src/stores/fail-closed-backend.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { type Sample, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { withCall } from '../support/stores/faulty-backend.js'

/** Samples behind the wrapper, whose every update answers `answer`. */
async function samplesAnswering(answer: unknown) {
  const logged: string[] = []
  const log = (message: string): void => void logged.push(message)
  const logger = { debug: log, info: log, warn: log, error: log }
  // What an adapter without types may answer.
  const inner = withCall(memory(), async (name, work) =>
    name.endsWith('.update') ? (answer as Awaited<ReturnType<typeof work>>) : work(),
  )
  const backend = failClosedBackend(inner, {
    clock: fakeClock(),
    logger,
    timeoutMs: 1000,
    later: setImmediate,
  })
  const spec = sampleSpec('never')
  await backend.store.prepare([spec])
  const update = (): Promise<Sample | null> =>
    backend.store.collection(spec).update('a', { count: 0 }, { count: 1 })
  return { update, logged, name: spec.name }
}

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

describe('R-LIB-13 a denylist through the fail-closed wrapper', () => {
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

describe('R-LIB-13 an update through the fail-closed wrapper', () => {
  it.each(['taken', true, false, undefined, 1, {}, { id: 'b', count: 1 }])(
    'that answers %j is a failing store',
    async (answer) => {
      const { update, logged, name } = await samplesAnswering(answer)
      await expect(update()).rejects.toMatchObject({ code: 'service_unavailable' })
      expect(logged).toEqual([`the store failed: ${name}.update`])
    },
  )

  it.each([null, sample('a', { count: 1 })])('that answers %j hands it on', async (answer) => {
    const { update, logged } = await samplesAnswering(answer)
    expect(await update()).toBe(answer)
    expect(logged).toEqual([])
  })
})
