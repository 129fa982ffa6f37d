import type { ProviderClients } from '../../identity-providers/provider-clients.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { ReAuthentication } from '../factors/re-authentication.js'
import { createOauthCodes, type OauthCodes } from '../intents/oauth-codes.js'
import { createOauthFlows } from '../intents/oauth-flows.js'
import type { FederatedLogin } from '../login/federated-login.js'
import type { LoginPipeline } from '../login/login-pipeline.js'
import type { MailService } from '../mail/mail-service.js'
import type { OwnerProof } from '../passwords/owner-proof.js'
import type { SessionTermination } from '../sessions/session-termination.js'
import { mayGoOn } from './may-go-on.js'
import { createOauthAccounts } from './oauth-accounts.js'
import { createOauthIdentities, type OauthIdentities } from './oauth-identities.js'
import { createOauthLinks, type OauthLinks } from './oauth-links.js'
import { createOauthSignIn, type OauthSignIn } from './oauth-sign-in.js'
import { createProviderProofs } from './provider-proofs.js'

/** What logins need of this room, made before they are. */
export interface FederatedServices {
  readonly codes: OauthCodes
  readonly federated: FederatedLogin
}

export interface OauthServices {
  readonly oauth: OauthSignIn
  readonly oauthLinks: OauthLinks
  readonly oauthIdentities: OauthIdentities
}

interface Collaborators {
  readonly codes: OauthCodes
  readonly mail: MailService
  readonly ownerProof: OwnerProof
  readonly pipeline: LoginPipeline
  readonly providers: ProviderClients
  readonly reAuthentication: ReAuthentication
  readonly sessions: SessionTermination
}

export function assembleFederatedLogin(
  context: SurfaceContext,
  sessions: Pick<SessionTermination, 'end'>,
): FederatedServices {
  const codes = createOauthCodes(context, sessions)
  return {
    codes,
    federated: {
      isValid: (ticket) => mayGoOn(context, codes, ticket),
      bindSession: codes.bindSession,
    },
  }
}

export function assembleOauth(
  context: SurfaceContext,
  collaborators: Collaborators,
): OauthServices {
  const deps = { ...context, ...collaborators }
  const identities = createOauthIdentities(deps)
  const providerProofs = createProviderProofs(deps, { ...collaborators, identities })
  const links = createOauthLinks(deps, identities, collaborators.reAuthentication)
  return {
    oauthLinks: links,
    oauthIdentities: identities,
    oauth: createOauthSignIn(deps, {
      ...collaborators,
      flows: createOauthFlows(deps),
      identities,
      accounts: createOauthAccounts(deps, { identities, providerProofs }),
      links,
    }),
  }
}
