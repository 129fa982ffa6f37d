import { type Exchange, type History, type Operation, succeeded } from '../history.js'
import { completable } from './completable.js'
import type { Predicate } from './judged.js'

/** What each of these acts leaves behind, once. */
const records: Partial<Readonly<Record<Operation, string>>> = {
  change: 'password.changed',
  reset: 'password.changed',
  endAll: 'session.allTerminated',
}

/**
 * I13: each act that was answered with success and met no fault left its record, and there is no record without an act that
 * may have left it. Where a process was killed, what it was about to write is gone.
 */
export const audit: Predicate = ({ exchanges, recorded, marks, restarts }: History) => {
  const violations: string[] = []
  let premises = 0
  for (const [owner, [, id]] of marks) {
    if (id === undefined) continue
    for (const action of new Set(Object.values(records))) {
      const of = exchanges.filter((one) => one.owner === owner && records[one.operation] === action)
      const written = recorded.filter((one) => one.targetId === id && one.action === action).length
      const certain = of.filter(
        (one) => isCertain(one, restarts) && completable(one, of).length === 0,
      ).length
      const possible = of.filter((one) => one.ended === null || one.struck || succeeded(one)).length
      premises += certain
      if (written < certain || written > possible) {
        violations.push(`${owner}: ${written} of ${certain} to ${possible} records ${action}`)
      }
    }
  }
  return { premises, violations }
}

/** What a process was about to write when it was killed is gone. */
const isCertain = (one: Exchange, restarts: History['restarts']): boolean => {
  const isKilled = restarts.some(({ step, replica }) => {
    return replica === one.replica && step >= one.begun
  })
  return one.ended !== null && succeeded(one) && !one.struck && !isKilled
}
