import { followSession, refreshSteps } from '../acceptor/follow-session.js'
import type { Steps } from '../acceptor/possible.js'
import { sessionStories } from '../acceptor/session-story.js'
import type { History } from '../history.js'
import type { Judged } from './judged.js'

/** Compiled once. */
let steps: Steps | undefined

/** How often each action of the model was taken, whichever holder took it. */
export type Taken = ReadonlyMap<string, number>

/**
 * Each session does what the model of refresh can do, in the order in which it did it: the same table that Spin searches.
 * The model has one clock, no denylist that is lost, and two holders of a session's tokens.
 */
export function followsModel(history: History): Judged & { readonly taken: Taken } {
  const { profile, denylistLost, exchanges } = history
  const taken = new Map<string, number>()
  const violations: string[] = []
  let premises = 0
  if (profile.skews.every((skew) => skew === 0) && denylistLost === null) {
    steps ??= refreshSteps()
    const operations = new Map(exchanges.map(({ request, operation }) => [request, operation]))
    for (const story of sessionStories(history)) {
      const followed = followSession(steps, story, operations)
      if (!followed.isWithin) continue
      premises += 1
      if (followed.refused !== null) violations.push(`${story.opened.session} ${followed.refused}`)
      for (const name of followed.taken) {
        const action = name.replace(/^holder\d /, '')
        taken.set(action, (taken.get(action) ?? 0) + 1)
      }
    }
  }
  return { premises, violations, taken }
}
