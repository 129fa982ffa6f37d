import { AuthError, describeError, TimeoutError } from '../errors/index.js'
import type { Answer, Backend, Counter, Denylist } from '../ports/backend.js'
import type { Clock, Logger } from '../ports/host.js'
import type { Collection, Doc, ManyCalls } from '../ports/store.js'
import { createDeadlines, type Deadlines } from './deadlines.js'
import { groupedFind } from './grouped-find.js'
import {
  counted,
  decided,
  decidedEach,
  documentOf,
  documentsOf,
  entriesOf,
  foundAmong,
  leaseOf,
  removedOf,
  sweptOf,
  textsOf,
} from './judged-answers.js'

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
  /** Milliseconds after which a call counts as failed. Its write may still take effect. */
  readonly timeoutMs: number
  /** Milliseconds that the current request has left, 0 or less once it is over; null outside of requests. */
  readonly restMs: () => number | null
  /** Calls `run` once the current turn of the event loop is over. */
  readonly later: (run: () => void) => void
}

/**
 * The backend as services see it: every rejection, every answer that does not come in time, and
 * every answer of another form than the port's is `service_unavailable`. So a failing store
 * can be neither a "no such user" nor a success, and what a driver says stays in the log. A request that is over
 * begins no further call. To what it was doing that is a call that failed there, which the tests of store faults
 * show for each call.
 */
export function failClosedBackend(backend: Backend, deps: Deps): Backend {
  const deadlines = createDeadlines(deps.clock, deps.timeoutMs)
  const bounds = { ...deps, deadlines }
  const call: Call = (what, work) => wrapped(what, work, bounds)
  // What was counted before a request failed is handed back after its end too, in the time of one call.
  const alsoAfterEnd: Call = (what, work) => {
    const rest = deps.restMs()
    return wrapped(what, work, {
      ...bounds,
      restMs: () => (rest !== null && rest > 0 ? rest : null),
    })
  }
  const { store, denylist, lease, counter } = backend
  const find: Denylist['find'] = (ids) => {
    const judge = (entries: Awaited<ReturnType<Denylist['find']>>) =>
      entriesOf(ids, entries, deps.clock.now())
    const answer = answerOf(() => denylist.find(ids))
    if (answer.atOnce === undefined) return answer.then(judge)
    judge(answer.atOnce.value)
    return answer
  }
  const findInTurn = denylist.findsInGroups ? groupedFind(find, deps) : find
  return {
    store: {
      collection: (spec) => failClosedCollection(store.collection(spec), spec.name, call),
      // Migrations may take long, and their errors are for the developer who runs them.
      prepare: (specs) => store.prepare(specs),
      heldBy: (removals) =>
        call('store.heldBy', async () =>
          store.heldBy === undefined ? [] : textsOf(await store.heldBy(removals)),
        ),
    },
    denylist: {
      put: (entries) => call('denylist.put', () => denylist.put(entries)),
      find(ids) {
        const rest = deps.restMs()
        if (rest !== null && rest <= 0) return call('denylist.find', () => find(ids))
        const answer = answerOf(() => findInTurn(ids))
        return answer.atOnce === undefined ? call('denylist.find', () => answer) : answer
      },
      sweep: (before, limit) =>
        call('denylist.sweep', async () => removedOf(await denylist.sweep(before, limit))),
    },
    lease: {
      read: (name) => call('lease.read', async () => leaseOf(await lease.read(name))),
      replace: (name, seen, next) =>
        call('lease.replace', async () => decided(await lease.replace(name, seen, next))),
    },
    counter: {
      ...failClosedCounter(counter, call),
      forgive: (key, hits) => alsoAfterEnd('counter.forgive', () => counter.forgive(key, hits)),
    },
  }
}

function failClosedCounter(counter: Counter, call: Call): Omit<Counter, 'forgive'> {
  const { add } = counter
  return {
    hit: (...hit) => call('counter.hit', async () => counted(await counter.hit(...hit))),
    ...(add && {
      add: (...hits) => call('counter.add', async () => counted(await add.apply(counter, hits))),
    }),
    sweep: (before, limit) =>
      call('counter.sweep', async () => removedOf(await counter.sweep(before, limit))),
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
    find: (equal, page) =>
      call(`${name}.find`, async () => documentsOf(page.limit, await inner.find(equal, page))),
    insert: (doc) => call(`${name}.insert`, async () => decided(await inner.insert(doc))),
    update: (id, guard, set) =>
      call(`${name}.update`, async () => documentOf(id, await inner.update(id, guard, set))),
    take: (id, guard) =>
      call(`${name}.take`, async () => documentOf(id, await inner.take(id, guard))),
    due: (before, limit) =>
      call(`${name}.due`, async () => documentsOf(limit, await inner.due(before, limit))),
    sweep: (before, limit) =>
      call(`${name}.sweep`, async () => sweptOf(await inner.sweep(before, limit))),
    ...(inner.many && { many: failClosedMany(inner.many, name, call) }),
  }
}

function failClosedMany<T extends Doc>(
  inner: ManyCalls<T>,
  name: string,
  call: Call,
): ManyCalls<T> {
  return {
    find: (field, values) =>
      call(`${name}.find`, async () => foundAmong(field, values, await inner.find(field, values))),
    insert: (docs) =>
      call(`${name}.insert`, async () => decidedEach(docs.length, await inner.insert(docs))),
    update: (ids, guard, set) =>
      call(`${name}.update`, async () =>
        foundAmong('id', ids, await inner.update(ids, guard, set)),
      ),
  }
}

function wrapped<T>(
  what: string,
  work: () => Promise<T>,
  { clock, deadlines, logger, restMs, timeoutMs }: Deps & { readonly deadlines: Deadlines },
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let cancel = (): void => {}
    const fail = (cause: unknown): void => {
      cancel()
      logger.error(`the store failed: ${what}`, describeError(cause))
      reject(new AuthError('service_unavailable', { cause }))
    }
    const rest = restMs() ?? timeoutMs
    const expire = () => {
      fail(new TimeoutError(`no answer within ${Math.min(rest, timeoutMs)} ms`))
    }
    if (rest <= 0) {
      fail(new TimeoutError('the request has taken longer than requestTimeout'))
      return
    }
    // The line is for calls with one and the same time.
    cancel = rest < timeoutMs ? clock.after(rest, expire) : deadlines.add(expire)
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
