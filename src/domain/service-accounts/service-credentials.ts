import { isUuid, randomToken, uuidv7 } from '../../crypto/secrets.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { ServiceCredential } from '../../model/user.js'
import { newestFirst } from '../../stores/newest-first.js'
import { type Act, reasonOf } from '../context/actor.js'
import { networkLine } from '../passwords/password-check.js'
import type { SurfaceContext } from '../surface/surface-context.js'

/** A credential and its secret, which is not kept: this is the one time it is known. */
export interface IssuedCredential {
  readonly credential: ServiceCredential
  /** `sas_` and 32 random bytes, base64url. */
  readonly clientSecret: string
}

/** Two, so that one can be rotated while the other is in use. */
const mostActive = 2

/** All of an account's, the newest first, revoked ones among them. */
export async function credentialsOf(
  ctx: SurfaceContext,
  accountId: string,
): Promise<readonly ServiceCredential[]> {
  const found: ServiceCredential[] = []
  for await (const credential of newestFirst(ctx.serviceCredentials, { accountId }))
    found.push(credential)
  return found
}

/** Makes a credential without storing it. Costs a hash, and so may throw `server_busy`. */
export async function draftCredential(
  ctx: SurfaceContext,
  accountId: string,
  { actorId, source }: Act,
): Promise<IssuedCredential> {
  const clientSecret = `sas_${randomToken(ctx.random)}`
  const secretHash = await ctx.passwords.hash(clientSecret, networkLine(ctx.surface, source))
  const now = ctx.clock.now()
  const credential: ServiceCredential = {
    id: uuidv7(now, ctx.random),
    expiresAt: null,
    accountId,
    clientId: `sa_${randomToken(ctx.random, 16)}`,
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

/** Withdraws a credential whose secret will never be shown. Never throws. */
export async function discardCredential(
  ctx: SurfaceContext,
  { id }: ServiceCredential,
): Promise<void> {
  try {
    await ctx.serviceCredentials.take(id)
  } catch (error) {
    // It counts as one of two until it is revoked, and cannot be used.
    ctx.logger.error('a credential whose secret was never shown was left', describeError(error))
  }
}

export async function storeCredential(
  ctx: SurfaceContext,
  credential: ServiceCredential,
): Promise<void> {
  try {
    if (await ctx.serviceCredentials.insert(credential)) return
    throw new AuthError('service_unavailable')
  } catch (error) {
    // The write may have taken effect.
    await discardCredential(ctx, credential)
    throw error
  }
}

/**
 * Counts, then inserts: if two calls come at once, both may succeed. The hash comes first, so that
 * hardly any time lies between the two.
 */
async function add(ctx: SurfaceContext, accountId: string, act: Act): Promise<IssuedCredential> {
  const issued = await draftCredential(ctx, accountId, act)
  // The secret was hashed in a queue that may be long.
  await act.askAgain?.()
  const active = (await credentialsOf(ctx, accountId)).filter(({ status }) => status === 'active')
  if (active.length >= mostActive) throw new AuthError('credential_limit_reached')
  await storeCredential(ctx, issued.credential)
  return issued
}

async function end(
  ctx: SurfaceContext,
  accountId: string,
  credentialId: string,
  { actorId }: Act,
): Promise<void> {
  const unknown = new AuthError('credential_not_found')
  if (!isUuid(credentialId)) throw unknown
  const set = { status: 'revoked', revokedAt: ctx.clock.now(), revokedBy: actorId } as const
  try {
    const revoked = await ctx.serviceCredentials.update(
      credentialId,
      { accountId, status: 'active' },
      set,
    )
    if (revoked === null) throw unknown
  } catch (error) {
    // The answer was lost: the row shows whether the write took effect.
    if (error === unknown || !(await isEndedBy(ctx, credentialId, set))) throw error
  }
}

async function isEndedBy(
  ctx: SurfaceContext,
  id: string,
  { revokedAt, revokedBy }: Pick<ServiceCredential, 'revokedAt' | 'revokedBy'>,
): Promise<boolean> {
  try {
    const row = await ctx.serviceCredentials.get(id)
    return row?.revokedAt === revokedAt && row.revokedBy === revokedBy
  } catch {
    return false
  }
}

/** Throws `credential_limit_reached` where two are active already. */
export async function issueCredential(
  ctx: SurfaceContext,
  targetId: string,
  act: Act,
): Promise<IssuedCredential> {
  const { actorId, source } = act
  try {
    const issued = await add(ctx, targetId, act)
    const { id: credentialId } = issued.credential
    ctx.emit('serviceCredential.issued', source, { actorId, targetId, credentialId })
    return issued
  } catch (error) {
    const reason = reasonOf(error)
    ctx.emit('serviceCredential.issueFailed', source, { actorId, targetId, reason })
    throw error
  }
}

/**
 * From the next grant on it is refused; tokens it got before live on. Throws
 * `credential_not_found` alike for one that is revoked, unknown, malformed or another account's.
 */
export async function revokeCredentialOf(
  ctx: SurfaceContext,
  targetId: string,
  credentialId: string,
  act: Act,
): Promise<void> {
  const { actorId, source } = act
  try {
    await end(ctx, targetId, credentialId, act)
  } catch (error) {
    const reason = reasonOf(error)
    ctx.emit('serviceCredential.revokeFailed', source, { actorId, targetId, reason })
    throw error
  }
  ctx.emit('serviceCredential.revoked', source, { actorId, targetId, credentialId })
}

const hidden = '[secret]'

/**
 * A secret that shows itself to `reveal()` alone: `JSON.stringify`, `util.inspect`, `String` and a template
 * give `[secret]`, and a structured clone is empty.
 */
export class SecretText {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The secret itself. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return hidden
  }

  toJSON(): string {
    return hidden
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return hidden
  }
}
