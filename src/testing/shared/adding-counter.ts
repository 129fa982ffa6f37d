import type { Counter } from '../../ports/backend.js'
import { NotOffered } from './conformance-case.js'

export type AddingCounter = Required<Omit<Counter, 'inspect'>>

/** The counter, if it has the optional `add`; else the case that asks is skipped. */
export function addingCounter(counter: Counter): AddingCounter {
  const { add } = counter
  if (!add) throw new NotOffered('the counter has no `add`, which is optional')
  return {
    hit: (...hit) => counter.hit(...hit),
    add: (...hits) => add.apply(counter, hits),
    forgive: (...hits) => counter.forgive(...hits),
    sweep: (...before) => counter.sweep(...before),
  }
}
