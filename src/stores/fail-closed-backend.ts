import { AuthError, describeError, TimeoutError } from '../errors/index.js'
import type { Answer, Backend, Counter, CounterResult, Denylist } from '../ports/backend.js'
import type { Clock, Logger } from '../ports/host.js'
import type { Collection, Doc } from '../ports/store.js'
import { createDeadlines, type Deadlines } from './deadlines.js'
import { groupedFind } from './grouped-find.js'

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
  /** Milliseconds after which a call counts as failed. Its write may still take effect. */
  readonly timeoutMs: number
  /** Calls `run` once the current turn of the event loop is over. */
  readonly later: (run: () => void) => void
}

/**
 * The backend as services see it: every rejection, every answer that does not come in time, and
 * every answer of another form to a write, a `get` or a count is `service_unavailable`. So a failing store
 * can be neither a "no such user" nor a success, and what a driver says stays in the log.
 */
export function failClosedBackend(backend: Backend, deps: Deps): Backend {
  const deadlines = createDeadlines(deps.clock, deps.timeoutMs)
  const bounds = { ...deps, deadlines }
  const call: Call = (what, work) => wrapped(what, work, bounds)
  const { store, denylist, lease, counter } = backend
  const find: Denylist['find'] = (ids) => denylist.find(ids)
  const findInTurn = denylist.findsInGroups ? groupedFind(find, deps) : find
  return {
    store: {
      collection: (spec) => failClosedCollection(store.collection(spec), spec.name, call),
      // Migrations may take long, and their errors are for the developer who runs them.
      prepare: (specs) => store.prepare(specs),
    },
    denylist: {
      put: (entries) => call('denylist.put', () => denylist.put(entries)),
      find(ids) {
        const answer = answerOf(() => findInTurn(ids))
        return answer.atOnce === undefined ? call('denylist.find', () => answer) : answer
      },
      sweep: (before, limit) => call('denylist.sweep', () => denylist.sweep(before, limit)),
    },
    lease: {
      read: (name) => call('lease.read', () => lease.read(name)),
      replace: (name, seen, next) =>
        call('lease.replace', async () => decided(await lease.replace(name, seen, next))),
    },
    counter: failClosedCounter(counter, call),
  }
}

function failClosedCounter(counter: Counter, call: Call): Counter {
  const { add } = counter
  return {
    hit: (...hit) => call('counter.hit', async () => counted(await counter.hit(...hit))),
    ...(add && {
      add: (...hits) => call('counter.add', async () => counted(await add.apply(counter, hits))),
    }),
    forgive: (key, hits) => call('counter.forgive', () => counter.forgive(key, hits)),
    sweep: (before, limit) => call('counter.sweep', () => counter.sweep(before, limit)),
  }
}

type Call = <T>(what: string, work: () => Promise<T>) => Promise<T>

function failClosedCollection<T extends Doc>(
  inner: Collection<T>,
  name: string,
  call: Call,
): Collection<T> {
  return {
    get: (id) => call(`${name}.get`, async () => documentOf(id, await inner.get(id))),
    find: (equal, page) => call(`${name}.find`, () => inner.find(equal, page)),
    insert: (doc) => call(`${name}.insert`, async () => decided(await inner.insert(doc))),
    update: (id, guard, set) =>
      call(`${name}.update`, async () => documentOf(id, await inner.update(id, guard, set))),
    take: (id, guard) =>
      call(`${name}.take`, async () => documentOf(id, await inner.take(id, guard))),
    due: (before, limit) => call(`${name}.due`, () => inner.due(before, limit)),
    sweep: (before, limit) => call(`${name}.sweep`, () => inner.sweep(before, limit)),
  }
}

/** Services test for null: `undefined` for a document that is not there would pass for one that is. */
function documentOf<T extends Doc>(id: string, answer: T | null): T | null {
  if (answer === null || (typeof answer === 'object' && answer.id === id)) return answer
  throw new TypeError('get, update and take must answer the document or null')
}

/** A driver's count of rows, or its result as a whole, is not the word of the port. */
function decided(answer: boolean): boolean {
  if (typeof answer === 'boolean') return answer
  throw new TypeError('insert and replace must answer true or false')
}

function counted(answer: CounterResult): CounterResult {
  const { allowed, count, resetsAt } = answer
  if (typeof allowed === 'boolean' && Number.isFinite(count) && Number.isFinite(resetsAt))
    return answer
  throw new TypeError('a counter must answer { allowed, count, resetsAt }')
}

function wrapped<T>(
  what: string,
  work: () => Promise<T>,
  { deadlines, logger, timeoutMs }: Deps & { readonly deadlines: Deadlines },
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const fail = (cause: unknown): void => {
      cancel()
      logger.error(`the store failed: ${what}`, describeError(cause))
      reject(new AuthError('service_unavailable', { cause }))
    }
    const cancel = deadlines.add(() => {
      fail(new TimeoutError(`no answer within ${timeoutMs} ms`))
    })
    answerOf(work).then((value) => {
      cancel()
      resolve(value)
    }, fail)
  })
}

/** An adapter may throw before it returns a promise; that is a failing store as well. */
function answerOf<T>(work: () => Answer<T>): Answer<T> {
  try {
    return Promise.resolve(work())
  } catch (error) {
    return Promise.reject(error)
  }
}
