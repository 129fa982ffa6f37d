import { isTenantAllowed } from './microsoft-tenants.js'
import type { OidcProvider, ProviderEndpoints } from './provider.js'
import { displayName, emailOf, identifier, isTrue } from './read-claims.js'

const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const host = 'https://login.microsoftonline.com'

/**
 * https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference
 *
 * One application serves many tenants, each an issuer of its own. The issuer names the tenant, and
 * the tenant is judged by the setting.
 */
export const microsoft: OidcProvider = {
  kind: 'oidc',
  name: 'Microsoft',
  scope: 'openid email profile',
  responseMode: 'query',
  accountPrompt: 'select_account',
  endpoints: {
    issuer: `${host}/{tenantid}/v2.0`,
    authorization: `${host}/{tenant}/oauth2/v2.0/authorize`,
    token: `${host}/{tenant}/oauth2/v2.0/token`,
    jwks: `${host}/{tenant}/discovery/v2.0/keys`,
    user: '',
    emails: '',
  },
  locate(endpoints, { tenant }) {
    const at = (template: string) => template.replace('{tenant}', tenant.toLowerCase())
    return {
      ...endpoints,
      authorization: at(endpoints.authorization),
      token: at(endpoints.token),
      jwks: at(endpoints.jwks),
    }
  },
  isIssuer: (given, endpoints) => tenantIn(given, endpoints) !== null,
  issuerOf({ tid }, endpoints, credentials) {
    if (typeof tid !== 'string' || !guid.test(tid)) return null
    return isTenantAllowed(tid, credentials.tenant) ? issuerFor(endpoints.issuer, tid) : null
  },
  // Some of the keys of all tenants sign for one tenant only, and say so.
  mayKeySign({ issuer }, given) {
    if (typeof issuer !== 'string') return true
    const [before = '', after = ''] = issuer.split('{tenantid}')
    return issuer.includes('{tenantid}')
      ? given.startsWith(before) && given.endsWith(after)
      : issuer === given
  },
  profileOf(claims, issuer) {
    const subject = identifier(claims['sub'])
    const { tid, name, xms_edov: domainOwned } = claims
    if (subject === null || typeof tid !== 'string') return null
    // A tenant's administrator can write any address here; only this claim says that the domain is
    // the tenant's own (nOAuth, CVE-2023-3128).
    const emailVerified = isTrue(domainOwned) || domainOwned === 1 || domainOwned === '1'
    return {
      // Subjects are told apart within a tenant.
      issuer: issuer.includes(tid) ? issuer : `${issuer} ${tid}`,
      subject,
      email: emailOf(claims),
      emailVerified,
      hostedDomain: null,
      name: displayName(name),
    }
  },
}

function issuerFor(template: string, tenant: string): string {
  return template.replace('{tenantid}', tenant)
}

function tenantIn(issuer: string, { issuer: template }: ProviderEndpoints): string | null {
  const [before = '', after = ''] = template.split('{tenantid}')
  const tenant = issuer.slice(before.length, issuer.length - after.length)
  if (!template.includes('{tenantid}')) return issuer === template ? '' : null
  return guid.test(tenant) && issuerFor(template, tenant) === issuer ? tenant : null
}
