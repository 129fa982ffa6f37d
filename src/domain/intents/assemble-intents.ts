import { onceLoaded } from '../../concurrency/promises.js'
import { loadPart } from '../../errors/index.js'
import type { ProviderClients } from '../../identity-providers/provider-clients.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { createIntentJudge, type IntentJudge } from './intent-judge.js'
import type { LinkOffers } from './link-offers.js'
import { createLoginIntents, type LoginIntents, type RequiresKey } from './login-intents.js'
import { createMailedIntents, type MailedIntents } from './mailed-intents.js'
import { createOauthCodes, type OauthCodes, type SessionEnding } from './oauth-codes.js'
import { createPasskeyChallenges, type PasskeyChallenges } from './passkey-challenges.js'
import { createPendingRegistrations, type PendingRegistrations } from './pending-registrations.js'

/** What starts in one request and ends in another, and the one judge of it. `OauthPart` makes the flows itself. */
export interface IntentServices {
  readonly challenges: PasskeyChallenges
  readonly codes: OauthCodes
  readonly judge: IntentJudge
  /** Loaded at the first use; null where links are not offered. */
  readonly linkOffers: LinkOffersPart
  readonly loginIntents: LoginIntents
  readonly mailedIntents: MailedIntents
  readonly pendingRegistrations: PendingRegistrations
}

export type LinkOffersPart = (() => Promise<LinkOffers>) | null

interface Collaborators {
  readonly limits: RateLimiter
  readonly providers: ProviderClients
  readonly tokens: RequiresKey
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
    judge,
    linkOffers: context.offersLinks ? loadedOffers(deps, judge) : null,
    loginIntents: createLoginIntents(deps, judge),
    mailedIntents: createMailedIntents(deps, judge),
    pendingRegistrations: createPendingRegistrations(deps),
  }
}

/** Few hosts offer links, and few sign-ins bounce. */
function loadedOffers(context: SurfaceContext, judge: IntentJudge): () => Promise<LinkOffers> {
  return onceLoaded(async () => {
    const loaded = await loadPart('offers of links', () => import('./link-offers.js'))
    return loaded.createLinkOffers(context, judge)
  })
}
