import type { ProviderCredentials } from '../../src/identity-providers/provider.js'
import {
  createProviderClients,
  type EndpointOverrides,
  type ProviderClients,
  type ProviderProfile,
} from '../../src/identity-providers/provider-clients.js'
import type { ProviderId } from '../../src/identity-providers/providers.js'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.js'
import type { Account } from '../support/outside/provider-stub/account.js'
import { appleKeys, registered } from '../support/outside/provider-stub/credentials.js'
import { type ProviderStub, providerStub } from '../support/outside/provider-stub/provider-stub.js'

export interface ProviderRig {
  readonly clock: FakeClock
  readonly stub: ProviderStub
  readonly clients: ProviderClients
  credentialsOf(id: ProviderId, tenant?: string): ProviderCredentials
  /** A whole sign-in; `edit` changes what comes back on the way. */
  signIn(id: ProviderId, account: Account, edit?: Edit): Promise<ProviderProfile>
}

export interface Edit {
  readonly tenant?: string
  readonly parameters?: Readonly<Record<string, string>>
  readonly nonce?: string
  readonly codeVerifier?: string
  readonly redirectUri?: string
}

/** RFC 7636, appendix B. */
const codeVerifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
export const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

export const secrets = { state: 'st-1', nonce: 'no-1', codeVerifier }

export const redirectUriOf = (id: ProviderId): string =>
  `https://app.example.com/v1/auth/client/oauth/${id}/callback`

export async function providerRig(endpoints: EndpointOverrides = {}): Promise<ProviderRig> {
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const { privatePem, publicKey } = await appleKeys()
  const stub = await providerStub(() => clock.now(), publicKey)
  const clients = createProviderClients({ fetcher: stub, clock, endpoints })

  function credentialsOf(id: ProviderId, tenant = 'common'): ProviderCredentials {
    const { teamId, keyId } = registered.apple
    const none = { clientSecret: privatePem, tenant, teamId, keyId }
    return { ...none, ...registered[id] }
  }

  return {
    clock,
    stub,
    clients,
    credentialsOf,
    async signIn(id, account, edit = {}) {
      const { tenant, parameters, ...others } = edit
      const credentials = credentialsOf(id, tenant)
      const redirectUri = redirectUriOf(id)
      const url = await clients.authorizationUrl(id, credentials, { ...secrets, redirectUri })
      const brought = { ...stub.agree(url, account), ...parameters }
      return clients.whoSignedIn(id, credentials, {
        parameters: brought,
        secrets: { ...secrets, ...others },
        redirectUri: others.redirectUri ?? redirectUri,
      })
    },
  }
}
