import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { faultyBackend } from '../../src/testing/index.js'
import { fill, sample, sampleSpec } from '../../src/testing/shared/sample.js'

async function opened() {
  const faulty = faultyBackend(memory(), { keepsVersions: true })
  const spec = sampleSpec('sliding')
  const samples = faulty.backend.store.collection(spec)
  await fill(samples, [sample('a')])
  const update = () => samples.update('a', { count: { lte: 5 } }, { count: 1 })
  return { ...faulty, samples, update, name: `${spec.name}.update`, get: `${spec.name}.get` }
}

/** What a call did by the time all that can settle has settled. */
async function fateOf(call: Promise<unknown>): Promise<string> {
  const settled = call.then(
    () => 'answers',
    () => 'rejects',
  )
  const turn = new Promise<string>((resolve) => setImmediate(resolve, 'hangs'))
  return Promise.race([settled, turn])
}

describe('the fault injector', () => {
  it.each([
    ['before', 'rejects', 0],
    ['after', 'rejects', 1],
    ['hang', 'hangs', 0],
    ['silent', 'hangs', 1],
    ['late', 'hangs', 0],
    ['twice', 'answers', 1],
    ['down', 'rejects', 1],
  ] as const)('%s: the call %s', async (fault, fate, count) => {
    const { failNext, update, name, samples, heal } = await opened()
    failNext(name, fault)
    expect(await fateOf(update())).toBe(fate)
    heal()
    expect((await samples.get('a'))?.count).toBe(count)
    expect(await fateOf(update())).toBe('answers')
  })

  it('late: takes effect once the caller has given up', async () => {
    const { failNext, update, name, samples, deliverLate } = await opened()
    failNext(name, 'late')
    expect(await fateOf(update())).toBe('hangs')
    await deliverLate()
    expect((await samples.get('a'))?.count).toBe(1)
  })

  it('twice: the second answer is the one that comes', async () => {
    const { failNext, name, samples } = await opened()
    failNext(name, 'twice')
    expect(await samples.update('a', { count: 0 }, { count: 1 })).toBeNull()
  })

  it('stale: a read gives what was stored before the last write', async () => {
    const { failNext, update, get, samples } = await opened()
    await update()
    failNext(get, 'stale')
    expect((await samples.get('a'))?.count).toBe(0)
    expect((await samples.get('a'))?.count).toBe(1)
    expect(() => faultyBackend(memory()).failNext(get, 'stale')).toThrow(/keepsVersions/)
  })

  it('down: every later call rejects until it is healed', async () => {
    const { failNext, update, name, samples, backend, heal } = await opened()
    failNext(name, 'down')
    expect(await fateOf(update())).toBe('rejects')
    expect(await fateOf(samples.get('a'))).toBe('rejects')
    expect(await fateOf(backend.denylist.find(['x']))).toBe('rejects')
    heal()
    expect(await fateOf(samples.get('a'))).toBe('answers')
  })

  it('strikes as often as was asked, and lets others act just before a call', async () => {
    const { failNext, onCall, update, name, samples, calls } = await opened()
    failNext(name, 'before', 2)
    expect([await fateOf(update()), await fateOf(update()), await fateOf(update())]).toEqual([
      'rejects',
      'rejects',
      'answers',
    ])
    onCall(name, async () => void (await samples.take('a')))
    expect(await update()).toBeNull()
    expect(calls.filter((call) => call === name)).toHaveLength(4)
  })

  it('keeps no names of calls where they would fill the memory, and fails them all the same', async () => {
    const { backend, calls, failNext } = faultyBackend(memory(), { keepsCalls: false })
    failNext('counter.hit', 'before')
    const hit = () => backend.counter.hit('a', 1000, 1, 0)
    await expect(hit()).rejects.toThrow('counter.hit')
    expect((await hit()).allowed).toBe(true)
    expect(calls).toEqual([])
  })
})
