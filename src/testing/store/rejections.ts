import assert from 'node:assert/strict'
import type { Scripts } from '../shared/conformance-case.js'
import { fill, type LooseCollection, type StoreSetup, sample } from '../shared/sample.js'

/** Values that are not of the field's kind. */
const unfit: Readonly<Record<string, readonly unknown[]>> = {
  email: [null, 5, true, 'nul\0', '\ud800', 'x\udc00y', ['a']],
  enabled: [null, 0, 1, 'true'],
  count: [null, '1', 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1n, true],
  score: ['1', 0.5, -(2 ** 53)],
  bornAt: [null, 1.5, '2030-01-01', new Date(0), Number.POSITIVE_INFINITY],
  expiresAt: ['1', 0.5, new Date(0)],
  data: [{ at: new Date(0) }, [undefined], { no: undefined }, Number.NaN, 1n, ['\0'], new Map()],
}

async function rejects(call: () => Promise<unknown>, promise: string): Promise<void> {
  const wanted = `${promise} must reject with a TypeError`
  await assert.rejects(
    call(),
    (error: unknown) => {
      assert.equal(error instanceof Error && error.name, 'TypeError', wanted)
      return true
    },
    wanted,
  )
}

/** The collection with one document, and a check that nothing has been written since. */
async function untouched({ samples }: StoreSetup) {
  await fill(samples, [sample('a', { team: 'x' })])
  const loose: LooseCollection = samples
  const check = async () => {
    assert.deepEqual(await samples.get('a'), sample('a', { team: 'x' }), 'nothing may be written')
    assert.equal(await samples.get('b'), null, 'nothing may be written')
  }
  return { loose, check }
}

export const rejections: Scripts<StoreSetup> = {
  'an empty guard rejects': async (setup) => {
    const { loose, check } = await untouched(setup)
    await rejects(() => loose.update('a', {}, { count: 1 }), 'update without a guard')
    await rejects(() => loose.take('a', {}), 'take with an empty guard')
    await check()
  },
  'an empty set rejects': async (setup) => {
    const { loose, check } = await untouched(setup)
    await rejects(() => loose.update('a', { count: 0 }, {}), 'update that sets nothing')
    await check()
  },
  'undefined in a guard rejects: it never matches, not even null': async (setup) => {
    const { loose, check } = await untouched(setup)
    const guards: readonly object[] = [
      { team: undefined },
      { score: undefined },
      { count: 0, score: undefined },
      { team: { in: undefined } },
      { team: { in: ['x', undefined] } },
      { count: { gt: undefined } },
      { count: { lte: undefined } },
      { team: {} },
    ]
    for (const guard of guards) {
      const named = Object.keys(guard).join()
      await rejects(() => loose.update('a', guard, { count: 1 }), `undefined guard of ${named}`)
      await rejects(() => loose.take('a', guard), `undefined guard of ${named} in take`)
    }
    await check()
  },
  'undefined in a set rejects': async (setup) => {
    const { loose, check } = await untouched(setup)
    for (const set of [{ team: undefined }, { count: 1, score: undefined }, { data: undefined }]) {
      await rejects(() => loose.update('a', { count: 0 }, set), 'undefined in a set')
    }
    await check()
  },
  'an inserted document must have every declared field': async (setup) => {
    const { loose, check } = await untouched(setup)
    for (const field of Object.keys(sample('b'))) {
      const without = Object.entries(sample('b')).filter(([name]) => name !== field)
      await rejects(() => loose.insert(Object.fromEntries(without)), `a document without ${field}`)
      await rejects(() => loose.insert({ ...sample('b'), [field]: undefined }), `no ${field}`)
    }
    await check()
  },
  'undeclared fields reject': async (setup) => {
    const { loose, check } = await untouched(setup)
    await rejects(() => loose.insert({ ...sample('b'), extra: 1 }), 'inserting an undeclared field')
    await rejects(() => loose.update('a', { extra: 1 }, { count: 1 }), 'an undeclared guard field')
    await rejects(() => loose.update('a', { count: 0 }, { extra: 1 }), 'an undeclared set field')
    await rejects(() => loose.take('a', { extra: 1 }), 'an undeclared guard field in take')
    await check()
  },
  'values that are not of their kind reject': async (setup) => {
    const { loose, check } = await untouched(setup)
    for (const [field, values] of Object.entries(unfit)) {
      for (const [at, value] of values.entries()) {
        const named = `${field}: unfit value ${at}`
        await rejects(() => loose.insert({ ...sample('b'), [field]: value }), `insert, ${named}`)
        await rejects(() => loose.update('a', { count: 0 }, { [field]: value }), `set, ${named}`)
        await rejects(() => loose.update('a', { [field]: value }, { count: 1 }), `guard, ${named}`)
      }
    }
    await check()
  },
  'json fields and bounds on text cannot be tested': async (setup) => {
    const { loose, check } = await untouched(setup)
    await rejects(() => loose.update('a', { data: {} }, { count: 1 }), 'a guard on json')
    await rejects(() => loose.update('a', { data: null }, { count: 1 }), 'a guard on json')
    await rejects(() => loose.update('a', { team: { gt: 'a' } }, { count: 1 }), 'gt on text')
    await rejects(() => loose.update('a', { team: { lte: 1 } }, { count: 1 }), 'lte on text')
    await rejects(() => loose.update('a', { count: { gt: '1' } }, { count: 1 }), 'gt of a text')
    await rejects(() => loose.update('a', { count: { lt: 1 } }, { count: 1 }), 'an unknown test')
    await check()
  },
  'an id never changes and never holds NUL': async (setup) => {
    const { loose, check } = await untouched(setup)
    await rejects(() => loose.update('a', { count: 0 }, { id: 'b' }), 'setting the id')
    await rejects(() => loose.insert(sample('nul\0')), 'NUL in an id')
    await rejects(() => setup.samples.get('nul\0'), 'NUL in an id asked for')
    await rejects(() => loose.update('nul\0', { count: 0 }, { count: 1 }), 'NUL in an id updated')
    await rejects(() => loose.take('nul\0'), 'NUL in an id taken')
    await rejects(() => loose.take('nul\0', { count: 0 }), 'NUL in an id taken by a guard')
    await check()
  },
  'text that is too long rejects: 256 code units of an id or an index, 65,536 of another': async (
    setup,
  ) => {
    const { loose, check } = await untouched(setup)
    const [long, longer] = ['x'.repeat(256), 'x'.repeat(65_536)]
    await rejects(() => loose.insert(sample(long, { email: 'b', handle: 'b' })), 'a long id')
    await rejects(() => setup.samples.get(long), 'a long id asked for')
    await rejects(() => loose.update(long, { count: 0 }, { count: 1 }), 'a long id updated')
    await rejects(() => loose.take(long), 'a long id taken')
    for (const field of ['email', 'realm', 'handle', 'team']) {
      const change = { [field]: long }
      await rejects(() => loose.insert({ ...sample('b'), ...change }), `a long ${field}`)
      await rejects(() => loose.update('a', { count: 0 }, change), `setting a long ${field}`)
    }
    await rejects(() => loose.insert({ ...sample('b'), note: longer }), 'a text of 65,536')
    await rejects(() => loose.update('a', { count: 0 }, { note: longer }), 'a text of 65,536')
    await check()
  },
  'find without an index on exactly its fields rejects': async (setup) => {
    const { loose } = await untouched(setup)
    const page = { limit: 10 }
    const unindexed: readonly object[] = [
      {},
      { count: 0 },
      { realm: 'main' },
      { email: 'a@example.test', team: 'x' },
      { enabled: true, count: 0, team: null },
      { data: {} },
      { extra: 1 },
    ]
    for (const equal of unindexed) {
      const named = Object.keys(equal).join()
      await rejects(() => loose.find(equal, page), `find by (${named}), which is no index,`)
    }
    await rejects(() => loose.find({ team: undefined }, page), 'find by undefined')
    await rejects(() => loose.find({ team: 5 }, page), 'find by a value of another kind')
    await rejects(() => loose.find({ team: { in: ['x'] } }, page), 'find by a list')
  },
  'pages of less than 1 or more than 1,000 reject': async (setup) => {
    const { loose } = await untouched(setup)
    for (const limit of [0, -1, 1.5, 1001, Number.NaN]) {
      await rejects(() => loose.find({ team: 'x' }, { limit }), `a page of ${limit}`)
    }
    await loose.find({ team: 'x' }, { limit: 1000 })
  },
  'due and sweep by what is no time, or of no documents, reject': async ({ open }) => {
    const jobs = await open('due')
    const samples = await open('sliding')
    await fill(jobs, [sample('a', { expiresAt: 1 })])
    await fill(samples, [sample('a', { expiresAt: 1 })])
    const calls = [
      ...[Number.NaN, 1.5, Number.POSITIVE_INFINITY].map((before) => [before, 10] as const),
      ...[0, -1, 1.5, Number.NaN].map((limit) => [1, limit] as const),
    ]
    for (const [before, limit] of calls) {
      await rejects(() => jobs.due(before, limit), `due of ${limit} by ${before}`)
      await rejects(() => samples.sweep(before, limit), `sweep of ${limit} by ${before}`)
    }
    assert.deepEqual(await samples.get('a'), sample('a', { expiresAt: 1 }))
  },
  'expiresAt is null in a `never` collection and stays in a `fixed` one': async ({ open }) => {
    const lasting = await open('never')
    await rejects(() => lasting.insert(sample('a', { expiresAt: 1 })), 'expiry in `never`')
    await fill(lasting, [sample('a')])
    await rejects(() => lasting.update('a', { count: 0 }, { expiresAt: 1 }), 'expiry in `never`')
    const fixed = await open('fixed')
    await fill(fixed, [sample('a', { expiresAt: 1 })])
    await rejects(() => fixed.update('a', { count: 0 }, { expiresAt: 2 }), 'moving a fixed expiry')
    assert.deepEqual(await fixed.get('a'), sample('a', { expiresAt: 1 }))
  },
}
