import { withTimeout } from '../../concurrency/promises.js'
import { codeMethod, type EntryRules, entryRefusal, entryRules } from '../../engine/accounts.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError, describeError, OptionsError } from '../../errors/index.js'
import { isTenantAllowed, tenantOfIssuer } from '../../identity-providers/microsoft-tenants.js'
import type { ProviderCredentials } from '../../identity-providers/provider.js'
import { providerId } from '../../identity-providers/providers.js'
import type { OauthIdentity, User } from '../../model/user.js'
import type { BeforeRegister } from '../../ports/host.js'
import { providerSettings } from '../../settings/oauth-providers.js'
import type { AuthSettings } from '../../settings/settings.js'
import type { SurfaceContext } from './surface-context.js'

/**
 * Whether people of this surface can sign in there: administrators let them, and the host is
 * registered with all it takes.
 */
export function isProviderOffered(
  ctx: Pick<SurfaceContext, 'surface' | 'providers'>,
  id: string,
  settings: AuthSettings,
): boolean {
  try {
    credentialsFor(ctx, id, settings)
    return true
  } catch (error) {
    if (error instanceof AuthError) return false
    throw error
  }
}

/**
 * False of an account of Microsoft whose tenant administrators have shut out, and of one at a declared provider that has
 * another issuer by now: nobody can sign in there with it any more.
 */
export function isIssuerAdmitted(
  { providers }: Pick<SurfaceContext, 'providers'>,
  { provider, issuer }: Pick<OauthIdentity, 'provider' | 'issuer'>,
  { microsoftTenant }: Pick<AuthSettings, 'microsoftTenant'>,
): boolean {
  const declared = providers.declared(provider)
  if (declared !== null) return declared.issuer === issuer
  if (provider !== 'microsoft') return true
  const tenant = tenantOfIssuer(issuer)
  return tenant !== null && isTenantAllowed(tenant, microsoftTenant)
}

/**
 * What the host is registered with: by its own declaration, or for the four by the settings. Throws
 * `oauth_provider_disabled` when the provider is unknown, switched off on this surface or lacks something, and
 * `service_unavailable` when a secret does not decrypt.
 */
export function credentialsFor(
  { surface, providers }: Pick<SurfaceContext, 'surface' | 'providers'>,
  provider: string,
  settings: AuthSettings,
): ProviderCredentials {
  const declared = providers.declared(provider)
  if (declared !== null) {
    if (!declared.surfaces.includes(surface)) throw new AuthError('oauth_provider_disabled')
    const { clientId, clientSecret } = declared
    return { clientId, clientSecret, tenant: '', teamId: '', keyId: '' }
  }
  const id = providerId(provider)
  if (id === null) throw new AuthError('oauth_provider_disabled')
  const surfaceName = surface === 'operator' ? 'Operator' : 'Client'
  if (!settings[`${id}${surfaceName}Enabled` as const])
    throw new AuthError('oauth_provider_disabled')
  const { clientId, clientSecret, tenant, teamId, keyId } = providerSettings[id].credentials
  const credentials = {
    clientId: settings[clientId],
    clientSecret: settings[clientSecret],
    ...(tenant && { tenant: settings[tenant] }),
    ...(teamId && { teamId: settings[teamId] }),
    ...(keyId && { keyId: settings[keyId] }),
  }
  if (Object.values(credentials).includes('')) throw new AuthError('oauth_provider_disabled')
  return { tenant: '', teamId: '', keyId: '', ...credentials }
}

/** Whether a user can sign in by the password, by a mailed code, or by one of these accounts at providers. */
export async function hasWayIn(
  ctx: Pick<SurfaceContext, 'surface' | 'collections' | 'settings' | 'providers' | 'offers'>,
  userId: string,
  identities: readonly Pick<OauthIdentity, 'provider' | 'issuer'>[],
): Promise<boolean> {
  const [user, current] = await Promise.all([ctx.collections.users.get(userId), ctx.settings()])
  return waysIn(ctx, current, user, identities).length > 0
}

/** An unproved mailbox is no reason against a mailed code: the code proves it. */
export function takesCode(user: User, rules: EntryRules): boolean {
  const account = { ...user, emailVerifiedAt: user.emailVerifiedAt ?? 0 }
  return entryRefusal('codeLogin', rules, { account }) === null
}

/** `password`, the ids of providers, and `email_code`, as far as options and settings let the user in by them. */
export function waysIn(
  ctx: Pick<SurfaceContext, 'surface' | 'providers' | 'offers'>,
  current: AuthSettings,
  user: User | null,
  identities: readonly Pick<OauthIdentity, 'provider' | 'issuer'>[],
): readonly string[] {
  const { passwordLoginEnabled } = settingsFor(ctx.surface, current)
  const hasPassword = passwordLoginEnabled && user !== null && user.passwordHash !== null
  const admitted = identities.filter(
    (identity) =>
      isProviderOffered(ctx, identity.provider, current) &&
      isIssuerAdmitted(ctx, identity, current),
  )
  const hasCode =
    ctx.offers.has('mailedCode') &&
    user !== null &&
    takesCode(user, entryRules(ctx.surface, current))
  return [
    ...(hasPassword ? ['password'] : []),
    ...admitted.map(({ provider }) => provider),
    ...(hasCode ? [codeMethod] : []),
  ]
}

const hostCode = /^(?!auth\.)[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/
const patienceMs = 2000

const expected =
  'must answer { code: "signup.too_many", detail: "…" } or nothing; no code begins with "auth."'

/** Asks the host before an account begins. Throws `registration_disabled` with its code, or `service_unavailable`. */
export async function askBeforeRegister(
  { beforeRegister, surface, clock, logger }: SurfaceContext,
  email: string,
  via: string,
): Promise<void> {
  if (beforeRegister === null) return
  let answer: Awaited<ReturnType<BeforeRegister>>
  try {
    const asked = Promise.resolve(beforeRegister({ email, surface, via }))
    answer = (await withTimeout(asked, patienceMs, clock)) ?? null
    const { code = '', detail = '' } = answer ?? {}
    const isKnown = answer === null || (hostCode.test(code) && typeof detail === 'string')
    if (!isKnown) throw new OptionsError('beforeRegister', expected)
  } catch (cause) {
    logger.error('beforeRegister failed', describeError(cause))
    throw new AuthError('service_unavailable', { cause })
  }
  if (answer === null) return
  const { code, detail = 'This registration is not accepted.' } = answer
  throw new AuthError('registration_disabled', { reason: code, detail })
}

/**
 * Ids are never used again: takes back an account that was made just now where an account with its id was deleted. True
 * where it did. Rejects where that cannot be known, and leaves the account: another request may have got in with it.
 */
export async function takeBackUsed(
  { users, accountDeletions }: Pick<SurfaceContext['collections'], 'users' | 'accountDeletions'>,
  id: string,
): Promise<boolean> {
  if ((await accountDeletions.get(id)) === null) return false
  await users.take(id)
  return true
}
