import { lazily } from '../../../src/concurrency/promises.js'
import { followEdits } from '../acceptor/follow-edits.js'
import { followSession, refreshSteps } from '../acceptor/follow-session.js'
import { sessionStories } from '../acceptor/session-story.js'
import type { Predicate } from './judged.js'

const steps = lazily(refreshSteps)

/** An action without the number of who takes it. */
export const actionOf = (name: string): string =>
  name
    .replace(/^(?:holder|editor)\d /, '')
    .replace(/^(link|login)\d /, '$1 ')
    .replace(/ of editor\d /, ' ')

/** Counts each. */
export function countedIn(names: readonly string[], taken: Map<string, number>): void {
  for (const name of names) taken.set(actionOf(name), (taken.get(actionOf(name)) ?? 0) + 1)
}

/**
 * Each session does what the model of refresh can do, in the order in which it did it: the same table that Spin searches.
 * The model has one clock, no denylist that is lost, and two holders of a session's tokens.
 */
export const followsModel: Predicate = (history) => {
  const { profile, denylistLost, exchanges } = history
  const taken = new Map<string, number>()
  const violations: string[] = []
  let premises = 0
  if (profile.skews.every((skew) => skew === 0) && denylistLost === null) {
    const operations = new Map(exchanges.map(({ request, operation }) => [request, operation]))
    for (const story of sessionStories(history)) {
      const followed = followSession(steps(), story, operations)
      if (!followed.isWithin) continue
      premises += 1
      if (followed.refused !== null) violations.push(`${story.opened.session} ${followed.refused}`)
      countedIn(followed.taken, taken)
    }
  }
  return { premises, violations, taken }
}

/** The edits of the shop's configuration do what the model of edits can do. */
export const editsFollowModel: Predicate = (history) => {
  const taken = new Map<string, number>()
  const premises = history.exchanges.filter(({ operation }) => operation === 'editShop').length
  if (premises === 0) return { premises, violations: [], taken }
  const followed = followEdits(history)
  countedIn(followed.taken, taken)
  return { premises, violations: followed.refused === null ? [] : [followed.refused], taken }
}
