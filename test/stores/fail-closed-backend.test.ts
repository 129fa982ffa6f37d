import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
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
