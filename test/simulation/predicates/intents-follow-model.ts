import { lazily } from '../../../src/concurrency/promises.js'
import { sha256 } from '../../../src/crypto/secrets.js'
import { followIntent, stepsOfIntents } from '../acceptor/follow-intent.js'
import { intentStories } from '../acceptor/intent-story.js'
import type { Exchange } from '../history.js'
import { countedIn } from './follows-model.js'
import type { Predicate } from './judged.js'

const steps = lazily(stepsOfIntents)

/** The name of the link or of the login ticket that a request shows; empty without one. */
function intentOf({ operation, spends, ticket }: Exchange): string {
  if (operation === 'reset') return sha256(spends.slice(spends.indexOf('.') + 1))
  return operation === 'second' ? sha256(ticket) : ''
}

/** Each mailed link to a new password, and each login that waits, does what the model of intents can do. */
export const intentsFollowModel: Predicate = (history) => {
  const { profile, denylistLost } = history
  const taken = new Map<string, number>()
  const violations: string[] = []
  let premises = 0
  if (profile.skews.every((skew) => skew === 0) && denylistLost === null) {
    for (const story of intentStories(history, intentOf)) {
      const followed = followIntent(steps(), story)
      if (!followed.isWithin) continue
      premises += 1
      const { kind, intent } = story.issued
      if (followed.refused !== null) violations.push(`${kind} ${intent} ${followed.refused}`)
      countedIn(followed.taken, taken)
    }
  }
  return { premises, violations, taken }
}
