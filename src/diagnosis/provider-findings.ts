import { createDiscovery, type DeclaredProvider } from '../identity-providers/declared-providers.js'
import { outboundOf } from '../identity-providers/outbound.js'
import type { EndpointOverrides } from '../identity-providers/provider-clients.js'
import { type ProviderId, providerIds, providers } from '../identity-providers/providers.js'
import type { Clock, Fetcher, OutboundReply } from '../ports/host.js'
import type { Finding } from '../ports/inspection.js'
import { providerProblem } from '../settings/auth-module.js'
import { providerSettings } from '../settings/oauth-providers.js'
import { type AuthSettings, readAuthSettings } from '../settings/settings.js'

interface Given {
  /** The stored texts of the module `auth`, secrets decrypted. */
  readonly values: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly endpoints: EndpointOverrides
  /** Null to ask nothing of the network. */
  readonly fetcher: Fetcher | null
  readonly declared: readonly DeclaredProvider[]
  readonly clock: Clock
}

const check = 'providers'

/** What keeps people from signing in by a provider that is switched on. */
export async function providerFindings(given: Given): Promise<readonly Finding[]> {
  const { settings } = readAuthSettings(given.values, given.env)
  const isOn = (id: ProviderId) =>
    settings[`${id}OperatorEnabled`] || settings[`${id}ClientEnabled`]
  const { fetcher } = given
  const on = providerIds.filter(isOn)
  const isWithoutTenant = (id: ProviderId) => {
    const { tenant } = providerSettings[id].credentials
    return tenant !== undefined && settings[tenant] === ''
  }
  const unreachable =
    fetcher === null
      ? []
      : await Promise.all(
          on
            .filter((id) => !isWithoutTenant(id))
            .map((id) => reached(id, settings, given, fetcher)),
        )
  const withoutTenant = on.filter(isWithoutTenant).map(lacksTenant)
  const undiscovered = fetcher === null ? [] : await discovered(given, fetcher)
  return [...incomplete(given.values), ...withoutTenant, ...unreachable.flat(), ...undiscovered]
}

/** Of those that the host declares. */
async function discovered(
  { declared, clock }: Given,
  fetcher: Fetcher,
): Promise<readonly Finding[]> {
  const discovery = createDiscovery(outboundOf(fetcher), clock)
  const found = await Promise.all(
    declared.map(async ({ id, issuer }): Promise<readonly Finding[]> => {
      try {
        await discovery.read(issuer)
        return []
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        const remedy = `Compare the issuer of the provider "${id}" with what ${issuer}/.well-known/openid-configuration says.`
        return [{ check, problem: `Nobody can sign in by "${id}": ${why}.`, remedy }]
      }
    }),
  )
  return found.flat()
}

function incomplete(values: Given['values']): readonly Finding[] {
  const problem = providerProblem(values, () => true)?.message
  if (problem === undefined) return []
  return [{ check, problem, remedy: 'Run postern settings set, or switch the provider off.' }]
}

/** By its keys; by its API where there are none, which refuses a request without a token. */
async function reached(
  id: ProviderId,
  settings: AuthSettings,
  { endpoints }: Given,
  fetcher: Fetcher,
): Promise<readonly Finding[]> {
  const { name, locate, endpoints: usual } = providers[id]
  const { tenant } = providerSettings[id].credentials
  const { jwks, user } = locate(
    { ...usual, ...endpoints[id] },
    {
      ...{ clientId: '', clientSecret: '', teamId: '', keyId: '' },
      tenant: tenant === undefined ? '' : settings[tenant],
    },
  )
  const url = jwks === '' ? user : jwks
  const finding = (problem: string): readonly Finding[] => {
    const remedy = `Look at the network rules of this machine, and at oauth.providers.${id}.endpoints.`
    return [{ check, problem: `${name} ${problem}`, remedy }]
  }
  try {
    const reply = await fetcher.fetch({
      ...{ url, method: 'GET', timeoutMs: 10_000, maxBytes: 256 * 1024 },
      headers: { accept: 'application/json', 'user-agent': 'postern' },
    })
    if (jwks === '' ? reply.status < 500 && reply.status !== 404 : hasKeys(reply)) return []
    return finding(
      `answers at ${url} with the status ${reply.status} and nothing that signs people in.`,
    )
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return finding(`cannot be reached at ${url}: ${why}.`)
  }
}

/** The tenant of the environment was refused. There is nothing to ask, and no user can sign in. */
function lacksTenant(id: ProviderId): Finding {
  const problem = `${providers[id].name} is switched on and has no tenant, so that it is not offered.`
  const remedy = 'Set the tenant of the provider, or correct the variable that its value is from.'
  return { check, problem, remedy }
}

function hasKeys({ status, body }: OutboundReply): boolean {
  if (status !== 200) return false
  try {
    const parsed: unknown = JSON.parse(body)
    const keys =
      typeof parsed === 'object' && parsed !== null && 'keys' in parsed ? parsed.keys : null
    return Array.isArray(keys) && keys.length > 0
  } catch {
    return false
  }
}
