import { memory } from '../../../adapters/memory/index.js'
import { withCall } from './faulty-backend.js'

/** A backend that lets something else happen before its n-th call. */
export function interruptible() {
  let calls = 0
  let at = Number.POSITIVE_INFINITY
  let before: (() => Promise<void>) | null = null
  let between = Promise.resolve()
  const backend = withCall(memory(), async (_name, work) => {
    if (before !== null) calls += 1
    if (before !== null && calls === at) {
      const whole = before
      before = null
      between = whole()
      await between
    }
    return work()
  })
  return {
    backend,
    /**
     * Runs `whole` in one piece before the n-th call that `work` makes; false when it made fewer. Resolves when both are
     * done: a call in the background may come when `work` has its answer.
     */
    async interrupt(nth: number, whole: () => Promise<void>, work: () => Promise<void>) {
      calls = 0
      at = nth
      before = whole
      between = Promise.resolve()
      await work()
      await between
      const interrupted = before === null
      before = null
      return interrupted
    },
  }
}
