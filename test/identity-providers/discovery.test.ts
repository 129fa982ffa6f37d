import { describe, expect, it } from 'vitest'
import { createDiscovery } from '../../src/identity-providers/declared-providers.js'
import { outboundOf } from '../../src/identity-providers/outbound.js'
import { fakeClock } from '../../src/testing/fake-clock.js'

const hourMs = 60 * 60 * 1000
const both = ['client_secret_post', 'client_secret_basic']

/** What each product publishes of what is read here, by its documentation. */
const documents = {
  'Entra, of one tenant': {
    issuer: 'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0',
    authorization_endpoint: 'https://login.microsoftonline.com/72f988bf/oauth2/v2.0/authorize',
    token_endpoint: 'https://login.microsoftonline.com/72f988bf/oauth2/v2.0/token',
    jwks_uri: 'https://login.microsoftonline.com/72f988bf/discovery/v2.0/keys',
    userinfo_endpoint: 'https://graph.microsoft.com/oidc/userinfo',
    response_types_supported: ['code', 'id_token', 'code id_token', 'id_token token'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: [...both, 'private_key_jwt'],
  },
  Okta: {
    issuer: 'https://acme.okta.com/oauth2/default',
    authorization_endpoint: 'https://acme.okta.com/oauth2/default/v1/authorize',
    token_endpoint: 'https://acme.okta.com/oauth2/default/v1/token',
    jwks_uri: 'https://acme.okta.com/oauth2/default/v1/keys',
    userinfo_endpoint: 'https://acme.okta.com/oauth2/default/v1/userinfo',
    response_types_supported: ['code', 'id_token', 'code id_token'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [...both, 'none'],
  },
  Keycloak: {
    issuer: 'https://sso.acme.example/realms/staff',
    authorization_endpoint: 'https://sso.acme.example/realms/staff/protocol/openid-connect/auth',
    token_endpoint: 'https://sso.acme.example/realms/staff/protocol/openid-connect/token',
    jwks_uri: 'https://sso.acme.example/realms/staff/protocol/openid-connect/certs',
    userinfo_endpoint: 'https://sso.acme.example/realms/staff/protocol/openid-connect/userinfo',
    response_types_supported: ['code', 'none', 'id_token'],
    id_token_signing_alg_values_supported: ['PS384', 'RS256', 'ES256', 'HS256'],
    code_challenge_methods_supported: ['plain', 'S256'],
    token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_basic', ...both],
    authorization_response_iss_parameter_supported: true,
  },
  GitLab: {
    issuer: 'https://gitlab.com',
    authorization_endpoint: 'https://gitlab.com/oauth/authorize',
    token_endpoint: 'https://gitlab.com/oauth/token',
    jwks_uri: 'https://gitlab.com/oauth/discovery/keys',
    userinfo_endpoint: 'https://gitlab.com/oauth/userinfo',
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['plain', 'S256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  },
  Zitadel: {
    issuer: 'https://acme.zitadel.cloud',
    authorization_endpoint: 'https://acme.zitadel.cloud/oauth/v2/authorize',
    token_endpoint: 'https://acme.zitadel.cloud/oauth/v2/token',
    jwks_uri: 'https://acme.zitadel.cloud/oauth/v2/keys',
    userinfo_endpoint: 'https://acme.zitadel.cloud/oidc/v1/userinfo',
    response_types_supported: ['code', 'id_token', 'id_token token'],
    id_token_signing_alg_values_supported: ['EdDSA', 'RS256', 'ES256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
  },
  'one that says nothing of the token endpoint': {
    issuer: 'https://id.example/',
    authorization_endpoint: 'https://id.example/authorize',
    token_endpoint: 'https://id.example/token',
    jwks_uri: 'https://id.example/keys',
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['RS256'],
  },
} as const

/** Answers what `at` says, and keeps what it was asked. */
function discovering(at: () => { readonly status?: number; readonly body: string }) {
  const asked: string[] = []
  const clock = fakeClock(0)
  const fetch = async ({ url }: { readonly url: string }) => {
    asked.push(url)
    return { status: 200, ...at() }
  }
  return { asked, clock, discovery: createDiscovery(outboundOf({ fetch }), clock) }
}

describe('the discovery of an issuer', () => {
  it.each(Object.entries(documents))('reads the document of %s', async (_product, document) => {
    const { asked, discovery } = discovering(() => ({ body: JSON.stringify(document) }))
    const { issuer, authorization_endpoint: authorization, token_endpoint: token } = document
    const methods = 'token_endpoint_auth_methods_supported' in document
    expect(await discovery.read(issuer)).toEqual({
      ...{ issuer, authorization, token, jwks: document.jwks_uri, emails: '' },
      user: 'userinfo_endpoint' in document ? document.userinfo_endpoint : '',
      // The default of the specification, where it says nothing.
      takesBasic: !methods,
      namesIssuer: 'authorization_response_iss_parameter_supported' in document,
    })
    expect(asked).toEqual([`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`])
  })

  it('asks once an hour, once for many at a time, and keeps what it knew for a day', async () => {
    let isDown = false
    const body = JSON.stringify(documents.Okta)
    const { asked, clock, discovery } = discovering(() =>
      isDown ? { status: 502, body: '' } : { body },
    )
    const { issuer } = documents.Okta
    await Promise.all([discovery.read(issuer), discovery.read(issuer)])
    await clock.advance(hourMs - 1)
    await discovery.read(issuer)
    expect(asked).toHaveLength(1)
    await clock.advance(1)
    await discovery.read(issuer)
    expect(asked).toHaveLength(2)
    isDown = true
    await clock.advance(24 * hourMs - 1)
    expect((await discovery.read(issuer)).issuer).toBe(issuer)
    await clock.advance(1)
    await expect(discovery.read(issuer)).rejects.toThrow('the status 502')
    isDown = false
    expect((await discovery.read(issuer)).issuer).toBe(issuer)
  })

  it.each([
    ['an issuer with a slash more', { issuer: `${documents.Okta.issuer}/` }, 'another issuer'],
    ['no address of its keys', { jwks_uri: undefined }, 'no good jwks_uri'],
    ['an address with a name', { token_endpoint: 'https://a:b@evil.example/' }, 'token_endpoint'],
    ['no list of response types', { response_types_supported: 'code' }, 'does not offer code'],
  ])('refuses %s', async (_what, change, message) => {
    const document = { ...documents.Okta, ...change }
    const { discovery } = discovering(() => ({ body: JSON.stringify(document) }))
    await expect(discovery.read(documents.Okta.issuer)).rejects.toThrow(message)
  })

  it('refuses what is no JSON, and asks again at the next sign-in', async () => {
    let body = '<html>'
    const { asked, discovery } = discovering(() => ({ body }))
    const { issuer } = documents.GitLab
    await expect(discovery.read(issuer)).rejects.toThrow('could not be read')
    body = JSON.stringify(documents.GitLab)
    expect((await discovery.read(issuer)).issuer).toBe(issuer)
    expect(asked).toHaveLength(2)
  })
})
