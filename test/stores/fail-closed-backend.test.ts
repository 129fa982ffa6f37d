import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { sqlite } from '../../adapters/sqlite/index.js'
import { answered } from '../../src/checks/answered.js'
import type { Backend, Denylist } from '../../src/ports/backend.js'
import { failClosedBackend } from '../../src/stores/fail-closed-backend.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { withCall } from '../support/stores/faulty-backend.js'

function wrapped(inner: Backend) {
  const clock = fakeClock()
  const logged: (readonly [string, object?])[] = []
  const log = (...line: readonly [string, object?]): void => void logged.push(line)
  const logger = { debug: log, info: log, warn: log, error: log }
  const bounds = { timeoutMs: 1000, restMs: () => null, later: setImmediate }
  return { backend: failClosedBackend(inner, { clock, logger, ...bounds }), logged }
}

/** A backend behind the wrapper, of which one call answers `answer`. */
async function answering(what: string, answer: unknown) {
  // What an adapter without types may answer.
  const inner = withCall(sqlite(new DatabaseSync(':memory:')), async (name, work) =>
    name.endsWith(what) ? (answer as Awaited<ReturnType<typeof work>>) : work(),
  )
  const heldBy = async () => answer as readonly string[]
  const { backend, logged } = wrapped({ ...inner, store: { ...inner.store, heldBy } })
  const spec = sampleSpec('sliding')
  await backend.store.prepare([spec])
  return { ...backend, samples: backend.store.collection(spec), logged }
}

/** A denylist behind the wrapper, and what was logged. */
function wrappedDenylist(find: Denylist['find']) {
  const own = memory()
  const { backend, logged } = wrapped({ ...own, denylist: { ...own.denylist, find } })
  return { find: backend.denylist.find, logged }
}

const now = fakeClock().now()
const entry = { id: 'a', reason: 'revoked', expiresAt: now } as const

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

  it.each([
    () => {
      throw new Error('down')
    },
    () => Promise.reject(new Error('down')),
    () => answered([{ ...entry, id: 'a ' }]),
  ])('that fails is a failing store, asked once', async (fails) => {
    let asked = 0
    const { find, logged } = wrappedDenylist(() => {
      asked += 1
      return fails()
    })
    const answer = find(['a'])
    expect(answer.atOnce).toBeUndefined()
    await expect(answer).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(logged.map(([message]) => message)).toEqual(['the store failed: denylist.find'])
    expect(asked).toBe(1)
  })
})

const doc = sample('a', { count: 1 })
const anyDocument = {
  wrong: ['taken', true, false, undefined, 1, {}, { id: 'b', count: 1 }],
  right: [null, doc],
}
const noLists = [undefined, null, 'a', { rows: [] }, { length: 0 }, [null], ['a'], [[]], [{}]]
const someDocuments = {
  wrong: [...noLists, [{ _id: 'a' }], [{ id: 1 }], [doc, doc, doc]],
  right: [[], [doc], [doc, doc]],
}
const texts = { wrong: [undefined, null, 'a', {}, [1], [null]], right: [[], ['a']] }
const decision = { wrong: [undefined, null, 0, 1, 'OK', {}], right: [true, false] }
const noNumbers = [undefined, null, true, '1', -1, Number.NaN, Number.POSITIVE_INFINITY]
const count = { wrong: noNumbers, right: [0, 7] }
const other = sample('b')
const two = [doc, other]
const [ids, emails] = [two.map(({ id }) => id), two.map(({ email }) => email)]
const twoDocuments = {
  wrong: [...noLists, [doc, doc], [doc, sample('c')], [doc, other, doc]],
  right: [[], [other], two],
}
const twoDecisions = {
  wrong: [undefined, null, true, [], [true], [true, true, false], [true, 1], [true, null]],
  right: [
    [true, false],
    [false, false],
  ],
}
/** The answer with each of these wrong, in turn. */
const spoilt = (answer: object, names: readonly string[], wrong: readonly unknown[] = noNumbers) =>
  names.flatMap((name) => wrong.map((value) => ({ ...answer, [name]: value })))
const window = { allowed: false, count: 1, resetsAt: 1000 }
const anyWindow = {
  wrong: [...noNumbers, {}, { ...window, allowed: 1 }, ...spoilt(window, ['count', 'resetsAt'])],
  right: [window],
}
const lease = { owner: 'b', renewal: 1 }
const anyLease = {
  wrong: [undefined, 1, {}, { ...lease, owner: 7 }, ...spoilt(lease, ['renewal'])],
  right: [null, lease, { owner: null, renewal: 2 }],
}
const sweep = { removed: 1, left: 0 }
const swept = { wrong: [1, ...spoilt(sweep, ['removed', 'left'])], right: [sweep] }
const { expiresAt, ...timeless } = entry
const { id, ...nameless } = entry
const noTimes = [...noNumbers, Math.floor(now / 1000), new Date(now).toISOString(), new Date(now)]
const wrongEntries = [
  ...[nameless, { ...nameless, _id: id }, timeless, { ...timeless, expires_at: expiresAt }],
  ...spoilt(entry, ['id'], ['a   ', 'b', 1]),
  ...spoilt(entry, ['reason'], ['other', null]),
  ...spoilt(entry, ['expiresAt'], noTimes),
]
const entries = {
  wrong: [...noLists, { rows: [entry] }, ...wrongEntries.map((wrong) => [entry, wrong])],
  right: [[], [entry], [{ ...entry, reason: 'max_age', expiresAt: now - 1e10 }]],
}

interface Answers {
  readonly wrong: readonly unknown[]
  readonly right: readonly unknown[]
}
type Given = Awaited<ReturnType<typeof answering>>

const calls: readonly [string, (given: Given) => Promise<unknown> | undefined, Answers][] = [
  ['.get', ({ samples }) => samples.get('a'), anyDocument],
  ['.update', ({ samples }) => samples.update('a', { count: 0 }, { count: 1 }), anyDocument],
  ['.take', ({ samples }) => samples.take('a'), anyDocument],
  ['.find', ({ samples }) => samples.find({ team: null }, { limit: 2 }), someDocuments],
  ['.due', ({ samples }) => samples.due(now, 2), someDocuments],
  ['.insert', ({ samples }) => samples.insert(doc), decision],
  ['.sweep', ({ samples }) => samples.sweep(now, 2), swept],
  ['store.heldBy', ({ store }) => store.heldBy?.([]), texts],
  ['.find', ({ samples }) => samples.many?.find('email', emails), twoDocuments],
  ['.insert', ({ samples }) => samples.many?.insert(two), twoDecisions],
  ['.update', ({ samples }) => samples.many?.update(ids, { count: 0 }, { count: 1 }), twoDocuments],
  ['denylist.find', ({ denylist }) => denylist.find(['a']), entries],
  ['denylist.sweep', ({ denylist }) => denylist.sweep(now, 2), count],
  ['lease.read', (given) => given.lease.read('a'), anyLease],
  ['lease.replace', (given) => given.lease.replace('a', null, lease), decision],
  ['counter.hit', ({ counter }) => counter.hit('a', 1000, 1, 0), anyWindow],
  ['counter.add', ({ counter }) => counter.add?.('a', 1000, 1, 0, 1), anyWindow],
  ['counter.sweep', ({ counter }) => counter.sweep(now, 2), count],
]

describe.each(calls)('%s through the fail-closed wrapper', (what, call, { wrong, right }) => {
  it('that answers in another form is a failing store, and the log says the right one', async () => {
    for (const answer of wrong) {
      const given = await answering(what, answer)
      const told = JSON.stringify(answer)
      await expect(call(given), told).rejects.toMatchObject({ code: 'service_unavailable' })
      expect(given.logged).toEqual([
        [
          expect.stringMatching(`^the store failed: (kit_\\w+)?${what}$`),
          expect.objectContaining({ error: 'StoreAnswerError', detail: expect.any(String) }),
        ],
      ])
    }
  })

  it('that answers in the right form hands it on', async () => {
    for (const answer of right) {
      const given = await answering(what, answer)
      expect(await call(given)).toBe(answer)
      expect(given.logged).toEqual([])
    }
  })
})
