import { loadPart } from '../../errors/index.js'
import type { Users } from '../accounts/users.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { PasswordHashes } from '../passwords/password-hashes.js'
import type { Tokens } from '../sessions/tokens.js'
import type { ServiceAccountAdministration } from './service-account-administration.js'
import { createServiceAccounts, type ServiceAccounts } from './service-accounts.js'
import { createServiceCredentials } from './service-credentials.js'
import { createServiceGrants, type ServiceGrants } from './service-grants.js'
import { createTokenEndpoint, type TokenEndpoint } from './token-endpoint.js'

export interface ServiceAccountServices {
  readonly serviceAccounts: ServiceAccounts
  readonly serviceAccountAdministration: ServiceAccountAdministration
  readonly serviceGrants: ServiceGrants
  readonly tokenEndpoint: TokenEndpoint
}

interface Collaborators {
  readonly limits: RateLimiter
  readonly passwords: PasswordHashes
  readonly tokens: Tokens
  readonly users: Users
}

export function assembleServiceAccounts(
  context: SurfaceContext,
  collaborators: Collaborators,
): ServiceAccountServices {
  const deps = { ...context, ...collaborators }
  const credentials = createServiceCredentials(deps)
  const serviceAccounts = createServiceAccounts(deps, collaborators.users, credentials)
  const serviceGrants = createServiceGrants(deps, collaborators.tokens)
  return {
    serviceAccounts,
    serviceAccountAdministration: loadedWhenUsed(serviceAccounts),
    serviceGrants,
    tokenEndpoint: createTokenEndpoint(serviceGrants),
  }
}

/** Most processes serve requests alone, and never administer accounts in code. */
function loadedWhenUsed(accounts: ServiceAccounts): ServiceAccountAdministration {
  const load = async () => {
    const part = () => import('./service-account-administration.js')
    const loaded = await loadPart('service accounts in code', part)
    return loaded.createServiceAccountAdministration(accounts)
  }
  return {
    create: async (...given) => (await load()).create(...given),
    list: async (...given) => (await load()).list(...given),
    issueCredential: async (...given) => (await load()).issueCredential(...given),
    revokeCredential: async (...given) => (await load()).revokeCredential(...given),
    update: async (...given) => (await load()).update(...given),
  }
}
