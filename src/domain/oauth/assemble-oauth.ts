import { loadPart } from '../../errors/index.js'
import type { ProviderClients } from '../../identity-providers/provider-clients.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { ReAuthentication } from '../factors/re-authentication.js'
import type { OauthCodes } from '../intents/oauth-codes.js'
import type { OauthFlows } from '../intents/oauth-flows.js'
import type { LoginPipeline } from '../login/login-pipeline.js'
import type { MailService } from '../mail/mail-service.js'
import type { OwnerProof } from '../passwords/owner-proof.js'
import type { SessionTermination } from '../sessions/session-termination.js'
import type { IdentityAdministration } from './identity-administration.js'
import { createOauthAccounts } from './oauth-accounts.js'
import { createOauthIdentities, type OauthIdentities } from './oauth-identities.js'
import { createOauthLinks, type OauthLinks } from './oauth-links.js'
import { createOauthSignIn, type OauthSignIn } from './oauth-sign-in.js'
import { createProviderProofs } from './provider-proofs.js'

export interface OauthServices {
  readonly oauth: OauthSignIn
  readonly oauthLinks: OauthLinks
  readonly oauthIdentities: OauthIdentities
  readonly identityAdministration: IdentityAdministration
}

interface Collaborators {
  readonly codes: OauthCodes
  readonly flows: OauthFlows
  readonly mail: MailService
  readonly ownerProof: OwnerProof
  readonly pipeline: LoginPipeline
  readonly providers: ProviderClients
  readonly reAuthentication: ReAuthentication
  readonly sessions: SessionTermination
}

export function assembleOauth(
  context: SurfaceContext,
  collaborators: Collaborators,
): OauthServices {
  const deps = { ...context, ...collaborators }
  const identities = createOauthIdentities(deps)
  const providerProofs = createProviderProofs(deps, { ...collaborators, identities })
  const links = createOauthLinks(deps, { ...collaborators, identities })
  return {
    oauthLinks: links,
    oauthIdentities: identities,
    identityAdministration: loadedWhenUsed(identities, links),
    oauth: createOauthSignIn(deps, {
      ...collaborators,
      accounts: createOauthAccounts(deps, { identities, providerProofs }),
      links,
    }),
  }
}

/** Most processes serve requests alone, and never administer identities in code. */
function loadedWhenUsed(identities: OauthIdentities, links: OauthLinks): IdentityAdministration {
  const load = async () => {
    const part = () => import('./identity-administration.js')
    const loaded = await loadPart('identities in code', part)
    return loaded.createIdentityAdministration(identities, links)
  }
  return {
    list: async (...given) => (await load()).list(...given),
    remove: async (...given) => (await load()).remove(...given),
  }
}
