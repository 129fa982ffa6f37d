import { importPKCS8, SignJWT } from 'jose'
import type { Clock } from '../ports/host.js'
import type { ProviderCredentials } from './provider.js'

/** Apple allows six months. One that got out should not be good for as long. */
const lifeSeconds = 60 * 60

interface Minted {
  readonly credentials: ProviderCredentials
  readonly audience: string
  readonly mintedAt: number
  readonly secret: Promise<string>
}

/** Makes the client secrets Apple asks for: JWTs signed with ES256 by the key of the settings. */
export interface AppleSecrets {
  /** A secret with at least half of its life left. Rejects for a key that cannot be read. */
  secretFor(credentials: ProviderCredentials, audience: string): Promise<string>
}

export function createAppleSecrets(clock: Clock): AppleSecrets {
  let newest: Minted | null = null

  return {
    async secretFor(credentials, audience) {
      const now = clock.now()
      const isGood =
        newest !== null &&
        newest.audience === audience &&
        sameKey(newest.credentials, credentials) &&
        now >= newest.mintedAt &&
        now - newest.mintedAt < (lifeSeconds * 1000) / 2
      if (newest === null || !isGood) {
        newest = { credentials, audience, mintedAt: now, secret: mint(credentials, audience, now) }
      }
      const { secret } = newest
      try {
        return await secret
      } catch (error) {
        newest = null
        throw error
      }
    },
  }
}

async function mint(
  { clientId, clientSecret, teamId, keyId }: ProviderCredentials,
  audience: string,
  now: number,
): Promise<string> {
  const key = await importPKCS8(clientSecret, 'ES256')
  const issuedAt = Math.floor(now / 1000)
  return new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setSubject(clientId)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifeSeconds)
    .sign(key)
}

function sameKey(a: ProviderCredentials, b: ProviderCredentials): boolean {
  return (
    a.clientId === b.clientId &&
    a.clientSecret === b.clientSecret &&
    a.teamId === b.teamId &&
    a.keyId === b.keyId
  )
}
