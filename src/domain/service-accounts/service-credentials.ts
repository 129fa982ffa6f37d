import { isUuid, randomToken, uuidv7 } from '../../crypto/secrets.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { ServiceCredential } from '../../model/user.js'
import { newestFirst } from '../../stores/newest-first.js'
import type { Act } from '../context/actor.js'
import { reasonOf } from '../context/reason-of.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { networkLine } from '../passwords/hash-lines.js'
import type { PasswordHashes } from '../passwords/password-hashes.js'

/** A credential and its secret, which is not kept: this is the one time it is known. */
export interface IssuedCredential {
  readonly credential: ServiceCredential
  /** `sas_` and 32 random bytes, base64url. */
  readonly clientSecret: string
}

export interface ServiceCredentials {
  /** All of an account's, the newest first, revoked ones among them. */
  of(accountId: string): Promise<readonly ServiceCredential[]>
  /** Makes a credential without storing it. Costs a hash, and so may throw `server_busy`. */
  draft(accountId: string, by: Act): Promise<IssuedCredential>
  store(credential: ServiceCredential): Promise<void>
  /** Withdraws a credential whose secret will never be shown. Never throws. */
  discard(credential: ServiceCredential): Promise<void>
  /** Throws `credential_limit_reached` where two are active already. */
  issue(accountId: string, act: Act): Promise<IssuedCredential>
  /**
   * From the next grant on it is refused; tokens it got before live on. Throws
   * `credential_not_found` alike for one that is revoked, unknown, malformed or another account's.
   */
  revoke(accountId: string, credentialId: string, act: Act): Promise<void>
}

interface Deps
  extends Pick<
    SurfaceContext,
    'surface' | 'serviceCredentials' | 'clock' | 'random' | 'emit' | 'logger'
  > {
  readonly passwords: PasswordHashes
}

/** Two, so that one can be rotated while the other is in use. */
const mostActive = 2

export function createServiceCredentials(deps: Deps): ServiceCredentials {
  const { clock, random } = deps
  const { serviceCredentials } = deps

  async function of(accountId: string): Promise<readonly ServiceCredential[]> {
    const found: ServiceCredential[] = []
    for await (const credential of newestFirst(serviceCredentials, { accountId }))
      found.push(credential)
    return found
  }

  async function draft(accountId: string, { actorId, source }: Act): Promise<IssuedCredential> {
    const clientSecret = `sas_${randomToken(random)}`
    const secretHash = await deps.passwords.hash(clientSecret, networkLine(deps.surface, source))
    const now = clock.now()
    const credential: ServiceCredential = {
      id: uuidv7(now, random),
      expiresAt: null,
      accountId,
      clientId: `sa_${randomToken(random, 16)}`,
      secretHash,
      status: 'active',
      createdAt: now,
      createdBy: actorId,
      lastUsedAt: null,
      revokedAt: null,
      revokedBy: null,
    }
    return { credential, clientSecret }
  }

  async function discard({ id }: ServiceCredential): Promise<void> {
    try {
      await serviceCredentials.take(id)
    } catch (error) {
      // It counts as one of two until it is revoked, and cannot be used.
      deps.logger.error('a credential whose secret was never shown was left', describeError(error))
    }
  }

  async function store(credential: ServiceCredential): Promise<void> {
    try {
      if (await serviceCredentials.insert(credential)) return
      throw new AuthError('service_unavailable')
    } catch (error) {
      // The write may have taken effect.
      await discard(credential)
      throw error
    }
  }

  /**
   * Counts, then inserts: if two calls come at once, both may succeed. The hash comes first, so that
   * hardly any time lies between the two.
   */
  async function add(accountId: string, act: Act): Promise<IssuedCredential> {
    const issued = await draft(accountId, act)
    // The secret was hashed in a queue that may be long.
    await act.askAgain?.()
    const active = (await of(accountId)).filter(({ status }) => status === 'active')
    if (active.length >= mostActive) throw new AuthError('credential_limit_reached')
    await store(issued.credential)
    return issued
  }

  async function end(accountId: string, credentialId: string, { actorId }: Act): Promise<void> {
    const unknown = new AuthError('credential_not_found')
    if (!isUuid(credentialId)) throw unknown
    const set = { status: 'revoked', revokedAt: clock.now(), revokedBy: actorId } as const
    try {
      const revoked = await serviceCredentials.update(
        credentialId,
        { accountId, status: 'active' },
        set,
      )
      if (revoked === null) throw unknown
    } catch (error) {
      // The answer was lost: the row shows whether the write took effect.
      if (error === unknown || !(await isEndedBy(credentialId, set))) throw error
    }
  }

  async function isEndedBy(
    id: string,
    { revokedAt, revokedBy }: Pick<ServiceCredential, 'revokedAt' | 'revokedBy'>,
  ): Promise<boolean> {
    try {
      const row = await serviceCredentials.get(id)
      return row?.revokedAt === revokedAt && row.revokedBy === revokedBy
    } catch {
      return false
    }
  }

  return {
    of,
    draft,
    store,
    discard,

    async issue(targetId, act) {
      const { actorId, source } = act
      try {
        const issued = await add(targetId, act)
        const { id: credentialId } = issued.credential
        deps.emit('serviceCredential.issued', source, { actorId, targetId, credentialId })
        return issued
      } catch (error) {
        const reason = reasonOf(error)
        deps.emit('serviceCredential.issueFailed', source, { actorId, targetId, reason })
        throw error
      }
    },

    async revoke(targetId, credentialId, act) {
      const { actorId, source } = act
      try {
        await end(targetId, credentialId, act)
      } catch (error) {
        const reason = reasonOf(error)
        deps.emit('serviceCredential.revokeFailed', source, { actorId, targetId, reason })
        throw error
      }
      deps.emit('serviceCredential.revoked', source, { actorId, targetId, credentialId })
    },
  }
}
