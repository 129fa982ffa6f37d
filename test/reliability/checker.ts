/**
 * One call of a history. `invokedAt` is when the caller sent it, `returnedAt` when the answer
 * arrived, on one clock. A null `result` is an answer that says nothing: the call may have taken
 * effect, may do so at any later time, or never.
 */
export interface Call<Op, Result> {
  readonly op: Op
  readonly invokedAt: number
  readonly returnedAt: number
  readonly result: Result | null
}

/** What a correct system may do, one call after the other. */
export interface Model<State, C extends Call<unknown, unknown>> {
  readonly initial: State
  /** Two states with one key are the same. */
  key(state: State): string
  /**
   * The states in which the call may leave `state`, with the result it had; none when no correct
   * system answers so. For a call without a result, only the states it may bring about.
   */
  after(state: State, call: C): readonly State[]
}

export type Verdict =
  | { readonly verdict: 'legal' }
  /** No order explains the answers; `stuck` are the calls that fit nowhere after the longest one. */
  | { readonly verdict: 'illegal'; readonly order: readonly number[]; readonly stuck: string }
  /** The time was up first. Never a pass. */
  | { readonly verdict: 'unknown' }

interface Search<State> {
  readonly state: State
  /** Indexes of the calls in the order they took effect. */
  readonly order: readonly number[]
  readonly done: bigint
}

const budgetMs = 10_000

/**
 * Whether a history is linearizable: whether its calls can be put into one order that respects
 * real time (a call that returned before another was sent comes first) and that the model allows.
 *
 * The search of Wing and Gong with Lowe's memo: a set of calls done, and the state they led to, is
 * visited once. Exponential at worst, so histories stay below some 60 calls on one object.
 */
export function checkHistory<State, C extends Call<unknown, unknown>>(
  model: Model<State, C>,
  calls: readonly C[],
  now: () => number = () => performance.now(),
): Verdict {
  const deadline = now() + budgetMs
  const answered = calls.map(({ result }) => result !== null)
  const visited = new Set<string>()
  const pending: Search<State>[] = [{ state: model.initial, order: [], done: 0n }]
  let longest: Search<State> | undefined
  while (true) {
    const search = pending.pop()
    if (search === undefined) break
    if (now() > deadline) return { verdict: 'unknown' }
    const open = openCalls(calls, search.done)
    if (!open.some((index) => answered[index])) return { verdict: 'legal' }
    if (longest === undefined || search.order.length > longest.order.length) longest = search
    for (const next of nextOf(model, calls, search, open)) {
      const key = `${next.done.toString(36)} ${model.key(next.state)}`
      if (visited.has(key)) continue
      visited.add(key)
      pending.push(next)
    }
  }
  return { verdict: 'illegal', ...describe(model, calls, longest) }
}

/** Calls that may take effect next: sent before every answer still to be explained arrived. */
function openCalls(calls: readonly Call<unknown, unknown>[], done: bigint): readonly number[] {
  const left = calls.map((_call, index) => index).filter((index) => !isDone(done, index))
  const firstReturn = left.reduce((first, index) => {
    const call = calls[index]
    // An unanswered call holds nobody up.
    return call === undefined || call.result === null ? first : Math.min(first, call.returnedAt)
  }, Number.POSITIVE_INFINITY)
  return left.filter((index) => (calls[index]?.invokedAt ?? 0) <= firstReturn)
}

function nextOf<State, C extends Call<unknown, unknown>>(
  model: Model<State, C>,
  calls: readonly C[],
  { state, order, done }: Search<State>,
  open: readonly number[],
): readonly Search<State>[] {
  const key = model.key(state)
  const next: Search<State>[] = []
  for (const index of open) {
    const call = calls[index]
    if (call === undefined) continue
    const outcomes = model.after(state, call)
    for (const after of outcomes) {
      const changes = model.key(after) !== key
      // Unanswered and without effect is the same as never.
      if (!changes && call.result === null) continue
      const step = { state: after, order: [...order, index], done: done | (1n << BigInt(index)) }
      // What changes nothing can as well come first: no other order needs to be tried.
      if (!changes && outcomes.length === 1) return [step]
      next.push(step)
    }
  }
  return next
}

function isDone(done: bigint, index: number): boolean {
  return ((done >> BigInt(index)) & 1n) === 1n
}

function describe<State, C extends Call<unknown, unknown>>(
  model: Model<State, C>,
  calls: readonly C[],
  longest: Search<State> | undefined,
): { readonly order: readonly number[]; readonly stuck: string } {
  if (longest === undefined) return { order: [], stuck: '' }
  const lines = [...longest.order, ...openCalls(calls, longest.done)].map((index) => {
    const { op, invokedAt, returnedAt, result } = calls[index] ?? {}
    const when = `${invokedAt?.toFixed(2)}–${returnedAt?.toFixed(2)}`
    const mark = longest.order.includes(index) ? ' ' : '?'
    return `${mark} #${index} ${when} ${JSON.stringify(op)} → ${JSON.stringify(result)}`
  })
  return {
    order: longest.order,
    stuck: [...lines, `  in state ${model.key(longest.state)}`].join('\n'),
  }
}
