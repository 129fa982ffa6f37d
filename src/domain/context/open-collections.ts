import { sha256 } from '../../crypto/secrets.js'
import { longestProofAge } from '../../engine/duration.js'
import { type EnrolledFactors, enrollmentOf } from '../../engine/factors.js'
import { longestId } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'
import { isTenantAllowed, tenantOfIssuer } from '../../identity-providers/microsoft-tenants.js'
import type { ProviderCredentials } from '../../identity-providers/provider.js'
import type { ProviderId } from '../../identity-providers/providers.js'
import { type Collections, collectionsOf } from '../../model/collections.js'
import {
  type BackupCodes,
  maxPasskeys,
  type Passkey,
  type StepUpProof,
  type StoredPasskey,
} from '../../model/factors.js'
import type { OauthIdentity, User } from '../../model/user.js'
import type { DenylistEntry } from '../../ports/backend.js'
import type { Collection, Store } from '../../ports/store.js'
import type { Surface } from '../../ports/surface.js'
import { providerSettings } from '../../settings/oauth-providers.js'
import type { AuthSettings } from '../../settings/settings.js'

/** The id of a passkey's document. No credential's id holds a colon, so none is that of another document. */
function keyOf(credentialId: string): string {
  return credentialId.length > longestId ? `sha256:${sha256(credentialId)}` : credentialId
}

/** The collections of one surface, with passkeys by the ids of their credentials. */
export function openCollections(store: Store, surface: Surface, prefix: string): Collections {
  const stored = collectionsOf(store, surface, prefix)
  return { ...stored, passkeys: byCredentialId(stored.passkeys) }
}

function byCredentialId(stored: Collection<StoredPasskey>): Collection<Passkey> {
  return {
    get: async (id) => readOrNull(await stored.get(keyOf(id))),
    find: async (equal, { after, ...page }) =>
      (await stored.find(equal, after === undefined ? page : { ...page, after: keyOf(after) })).map(
        read,
      ),
    insert(passkey) {
      const id = keyOf(passkey.id)
      return stored.insert({ ...passkey, id, credentialId: id === passkey.id ? null : passkey.id })
    },
    update: async (id, guard, set) => readOrNull(await stored.update(keyOf(id), guard, set)),
    take: async (id, guard) => readOrNull(await stored.take(keyOf(id), guard)),
    due: async (before, limit) => (await stored.due(before, limit)).map(read),
    sweep: (before, limit) => stored.sweep(before, limit),
  }
}

function read({ credentialId, ...passkey }: StoredPasskey): Passkey {
  return { ...passkey, id: credentialId ?? passkey.id }
}

function readOrNull(stored: StoredPasskey | null): Passkey | null {
  return stored && read(stored)
}

/** 24 h covers the longest access token, one minute the largest clock leeway. */
export const denylistLifeMs = 24 * 60 * 60 * 1000 + 60 * 1000

export function sessionDenylistId(surface: string, sessionId: string): string {
  return `${surface}:session:${sessionId}`
}

export function tokenDenylistId(surface: string, jti: string): string {
  return `${surface}:token:${jti}`
}

/**
 * The first entry for one of these ids that has not expired; null without one. A backend may answer with others as well.
 */
export function entryInForce(
  entries: readonly DenylistEntry[],
  ids: readonly string[],
  now: number,
): DenylistEntry | null {
  return entries.find(({ id, expiresAt }) => ids.includes(id) && expiresAt > now) ?? null
}

/** The longest age that may be asked for, and the minute by which clocks may differ. Then no proof or login is recent. */
export const proofLifeMs = longestProofAge + 60 * 1000

/**
 * Stands in the place of a session's proof where the session turned up in an unusual place: no epoch is ever below zero, so
 * it is no proof of any. It also says that the login of the session is no recent one any more.
 */
export function voidProof(sessionId: string, userId: string, now: number): StepUpProof {
  const proof = { id: sessionId, userId, method: 'totp', deviceEpoch: -1, provedAt: 0 } as const
  return { ...proof, expiresAt: now + proofLifeMs }
}

export function isVoidProof(proof: StepUpProof | null): boolean {
  return proof !== null && proof.deviceEpoch < 0
}

/**
 * Whether people of this surface can sign in there: administrators let them, and the host is
 * registered with all it takes.
 */
export function isProviderOffered(
  id: ProviderId,
  surface: Surface,
  settings: AuthSettings,
): boolean {
  try {
    credentialsFor(id, surface, settings)
    return true
  } catch (error) {
    if (error instanceof AuthError) return false
    throw error
  }
}

/** False of an account of Microsoft whose tenant administrators have shut out. */
export function isTenantAdmitted(
  { provider, issuer }: Pick<OauthIdentity, 'provider' | 'issuer'>,
  { microsoftTenant }: Pick<AuthSettings, 'microsoftTenant'>,
): boolean {
  if (provider !== 'microsoft') return true
  const tenant = tenantOfIssuer(issuer)
  return tenant !== null && isTenantAllowed(tenant, microsoftTenant)
}

/**
 * What the host is registered with. Throws `oauth_provider_disabled` when the provider is switched
 * off on this surface or lacks something, and `service_unavailable` when a secret does not decrypt.
 */
export function credentialsFor(
  id: ProviderId,
  surface: Surface,
  settings: AuthSettings,
): ProviderCredentials {
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

/** What an account can show a second factor with, read afresh. */
export async function enrolledFactors(
  collections: Pick<Collections, 'totpFactors' | 'backupCodes' | 'passkeys'>,
  userId: string,
): Promise<EnrolledFactors> {
  const [totp, codes, passkeys] = await Promise.all([
    collections.totpFactors.get(userId),
    collections.backupCodes.get(userId),
    passkeysOfUser(collections, userId),
  ])
  return {
    totp: totp?.confirmed === true,
    passkeys: passkeys.length,
    verifyingPasskeys: passkeys.filter(({ uvInitialized }) => uvInitialized).length,
    backupCodes: codes === null ? 0 : remainingCodes(codes),
  }
}

/** All of them. */
export function passkeysOfUser(
  { passkeys }: Pick<Collections, 'passkeys'>,
  userId: string,
): Promise<readonly Passkey[]> {
  return passkeys.find({ userId }, { limit: maxPasskeys })
}

/** How many codes of a set were not used yet. */
export function remainingCodes({ hashes, usedMask }: BackupCodes): number {
  return hashes.filter((_, index) => (usedMask & (1 << index)) === 0).length
}

/**
 * To be called before a write that sets another `lastIntentId`, with the user whose epochs that write guards. Where the
 * present one says that an enrolment is complete, this marks the factor as complete as well. Without the mark, a factor
 * whose own request died too early would count as overtaken.
 */
export async function keepEnrolledFactor(
  collections: Pick<Collections, 'totpFactors' | 'passkeys'>,
  { id: userId, lastIntentId }: Pick<User, 'id' | 'lastIntentId'>,
): Promise<void> {
  const enrollmentId = enrollmentOf(lastIntentId)
  if (lastIntentId === null || enrollmentId === null) return
  const settled = { enrollmentId: lastIntentId }
  const { totpFactors, passkeys } = collections
  const keepPasskey = async () => {
    const all = await passkeysOfUser(collections, userId)
    const own = all.find((passkey) => passkey.enrollmentId === enrollmentId)
    if (own !== undefined) await passkeys.update(own.id, { enrollmentId }, settled)
  }
  await Promise.all([totpFactors.update(userId, { enrollmentId }, settled), keepPasskey()])
}
