import type { ProviderClients } from '../../identity-providers/provider-clients.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { createIntentJudge, type IntentJudge } from './intent-judge.js'
import { createLoginIntents, type LoginIntents } from './login-intents.js'
import { createMailedIntents, type MailedIntents } from './mailed-intents.js'
import { createOauthCodes, type OauthCodes, type SessionEnding } from './oauth-codes.js'
import { createOauthFlows, type OauthFlows } from './oauth-flows.js'
import { createPasskeyChallenges, type PasskeyChallenges } from './passkey-challenges.js'
import { createPendingRegistrations, type PendingRegistrations } from './pending-registrations.js'

/** Everything that starts in one request and ends in another, and the one judge of it. */
export interface IntentServices {
  readonly challenges: PasskeyChallenges
  readonly codes: OauthCodes
  readonly flows: OauthFlows
  readonly judge: IntentJudge
  readonly loginIntents: LoginIntents
  readonly mailedIntents: MailedIntents
  readonly pendingRegistrations: PendingRegistrations
}

interface Collaborators {
  readonly limits: RateLimiter
  readonly providers: ProviderClients
}

export function assembleIntents(
  context: SurfaceContext,
  collaborators: Collaborators,
  sessions: SessionEnding,
): IntentServices {
  const deps = { ...context, ...collaborators }
  const judge = createIntentJudge(deps)
  return {
    challenges: createPasskeyChallenges(deps, judge),
    codes: createOauthCodes(deps, judge, sessions),
    flows: createOauthFlows(deps, judge),
    judge,
    loginIntents: createLoginIntents(deps, judge),
    mailedIntents: createMailedIntents(deps, judge),
    pendingRegistrations: createPendingRegistrations(deps),
  }
}
