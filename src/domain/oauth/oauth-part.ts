import type { ProviderClients } from '../../identity-providers/provider-clients.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { ReAuthentication } from '../factors/re-authentication.js'
import type { LinkOffersPart } from '../intents/assemble-intents.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import type { OauthCodes } from '../intents/oauth-codes.js'
import { createOauthFlows } from '../intents/oauth-flows.js'
import type { LoginPipeline } from '../login/login-pipeline.js'
import type { MailService } from '../mail/mail-service.js'
import type { OwnerProof } from '../passwords/owner-proof.js'
import type { SessionTermination } from '../sessions/session-termination.js'
import { createIdentityNotice } from './identity-notice.js'
import { createOauthAccounts } from './oauth-accounts.js'
import type { OauthIdentities } from './oauth-identities.js'
import { createOauthLinks, type OauthLinks } from './oauth-links.js'
import { createOauthSignIn, type OauthSignIn } from './oauth-sign-in.js'
import { createProviderProofs } from './provider-proofs.js'

export interface OauthCollaborators {
  readonly codes: OauthCodes
  readonly judge: IntentJudge
  readonly linkOffers: LinkOffersPart
  readonly mail: MailService
  readonly ownerProof: OwnerProof
  readonly pipeline: LoginPipeline
  readonly providers: ProviderClients
  readonly reAuthentication: ReAuthentication
  readonly sessions: SessionTermination
}

/** What is loaded once a host has its first user of a provider. */
export interface OauthPart {
  readonly oauth: OauthSignIn
  readonly links: OauthLinks
}

export function createOauthPart(
  context: SurfaceContext,
  collaborators: OauthCollaborators & { readonly identities: OauthIdentities },
): OauthPart {
  const deps = { ...context, ...collaborators }
  const { identities, judge } = collaborators
  const flows = createOauthFlows(deps, judge)
  const services = { ...collaborators, identityNotice: createIdentityNotice(deps) }
  const providerProofs = createProviderProofs(deps, services)
  const links = createOauthLinks(deps, { ...services, flows })
  const accounts = createOauthAccounts(deps, { identities, providerProofs })
  return { links, oauth: createOauthSignIn(deps, { ...collaborators, flows, accounts, links }) }
}
