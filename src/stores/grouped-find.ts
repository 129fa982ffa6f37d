import { isText } from '../checks/check-value.js'
import type { Denylist, DenylistEntry } from '../ports/backend.js'
import type { Clock } from '../ports/host.js'
import { createDeadlines } from './deadlines.js'

type Find = Denylist['find']

interface Deps {
  readonly clock: Clock
  /** Milliseconds after which the caller has taken a call for failed. */
  readonly timeoutMs: number
  /** Calls `run` once the current turn of the event loop is over. */
  readonly later: (run: () => void) => void
}

interface Caller {
  readonly ids: readonly string[]
  readonly resolve: (entries: readonly DenylistEntry[]) => void
  readonly reject: (error: unknown) => void
}

/** The calls that one statement answers. */
interface Group {
  /** When its last caller came. */
  joinedAt: number
  readonly ids: Set<string>
  readonly callers: Caller[]
}

const mostIds = 64
// More would take the connections of everything else; fewer would let one lost answer hold all others.
const mostFresh = 3
const mostInFlight = 16
const staleAfterMs = 100
const sentAgainWithinMs = 1000
// Under load a call is alone now and then, and those that come next are not to be split off for it.
const aloneBefore = 8

/**
 * Answers calls of the same moment with one call of `find`, so that many guarded requests at once cost
 * one round trip. What a caller may rely on is unchanged:
 *
 * - A call goes at the end of its turn of the event loop, with the others of that turn. Where the last eight were
 *   alone and were answered, it goes at once.
 * - A group that was sent takes no further caller. So a call sees every entry whose `put` was
 *   acknowledged before the call began.
 * - A group that gets no answer holds up no other for longer than 100 ms. After `timeoutMs` it does not count as in
 *   flight any more, and a group that waited so long is not sent: nothing waits for either.
 * - A group that fails within a second, such as on a connection that was reset, is sent once more, whole.
 *   If that fails, all its callers fail: no answer is ever taken for "not listed".
 * - Each caller gets the entries of its own ids, as objects of its own. A bad id fails its caller alone.
 */
export function groupedFind(find: Find, deps: Deps): Find {
  const queue: Group[] = []
  let isScheduled = false
  let fresh = 0
  let inFlight = 0
  /** How many groups in a row were one call: after some, the next is not expected to have company. */
  let alone = 0
  const stale = createDeadlines(deps.clock, staleAfterMs)
  const lost = createDeadlines(deps.clock, Math.max(staleAfterMs, deps.timeoutMs))

  function send(group: Group): void {
    fresh++
    inFlight++
    alone = group.callers.length === 1 ? alone + 1 : 0
    const settle = once(() => fresh--)
    const end = once(() => inFlight--)
    const keepFresh = stale.add(() => {
      settle()
      sendQueued()
    })
    const keepInFlight = lost.add(() => {
      end()
      sendQueued()
    })
    void answer(group, () => {
      keepFresh()
      keepInFlight()
      settle()
      end()
      sendQueued()
    })
  }

  async function answer({ ids, callers }: Group, done: () => void): Promise<void> {
    try {
      const entries = await ask([...ids])
      for (const caller of callers) caller.resolve(entriesOf(caller.ids, entries))
    } catch (error) {
      for (const caller of callers) caller.reject(error)
    } finally {
      done()
    }
  }

  async function ask(ids: readonly string[]): Promise<readonly DenylistEntry[]> {
    const sentAt = deps.clock.now()
    try {
      return await find(ids)
    } catch (error) {
      if (deps.clock.now() - sentAt >= sentAgainWithinMs) throw error
      return find(ids)
    }
  }

  function sendQueued(): void {
    while (fresh < mostFresh && inFlight < mostInFlight) {
      const group = queue.shift()
      if (!group) return
      if (deps.clock.now() - group.joinedAt < deps.timeoutMs) send(group)
    }
  }

  function schedule(): void {
    if (isScheduled) return
    if (alone >= aloneBefore && inFlight === 0) {
      sendQueued()
      return
    }
    isScheduled = true
    deps.later(() => {
      isScheduled = false
      sendQueued()
    })
  }

  return (ids) => {
    if (!ids.every(isText)) {
      return Promise.reject(new TypeError('denylist.find: an id is text without NUL'))
    }
    if (ids.length === 0) return Promise.resolve([])
    if (ids.length > mostIds) return find(ids)
    return new Promise((resolve, reject) => {
      const open = openGroup(queue, ids)
      open.joinedAt = deps.clock.now()
      for (const id of ids) open.ids.add(id)
      open.callers.push({ ids, resolve, reject })
      schedule()
    })
  }
}

/** The newest group that was not sent yet, if the ids fit into it; else a new one at the end. */
function openGroup(queue: Group[], ids: readonly string[]): Group {
  const last = queue.at(-1)
  if (last && last.ids.size + ids.filter((id) => !last.ids.has(id)).length <= mostIds) return last
  const group = { joinedAt: 0, ids: new Set<string>(), callers: [] }
  queue.push(group)
  return group
}

function entriesOf(
  ids: readonly string[],
  entries: readonly DenylistEntry[],
): readonly DenylistEntry[] {
  if (entries.length === 0) return []
  return entries.filter(({ id }) => ids.includes(id)).map((entry) => ({ ...entry }))
}

function once(run: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) run()
    isDone = true
  }
}
