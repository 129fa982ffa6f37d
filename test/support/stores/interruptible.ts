import { memory } from '../../../adapters/memory/index.js'
import { withCall } from './faulty-backend.js'

/** A backend that lets something else happen before its n-th call. */
export function interruptible() {
  let calls = 0
  let at = Number.POSITIVE_INFINITY
  let before: (() => Promise<void>) | null = null
  const backend = withCall(memory(), async (_name, work) => {
    if (before !== null) calls += 1
    if (before !== null && calls === at) {
      const whole = before
      before = null
      await whole()
    }
    return work()
  })
  return {
    backend,
    /** Runs `whole` in one piece before the n-th call that `work` makes; false when it made fewer. */
    async interrupt(nth: number, whole: () => Promise<void>, work: () => Promise<void>) {
      calls = 0
      at = nth
      before = whole
      await work()
      const interrupted = before === null
      before = null
      return interrupted
    },
  }
}
