import type { HashLine } from '../../crypto/hash-gate.js'
import { isUuid, randomToken, uuidv7 } from '../../crypto/secrets.js'
import { readTokenRequest, type TokenRequest } from '../../engine/client-authentication.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { ServiceCredential, User } from '../../model/user.js'
import type { GrantRefusal } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import { newestFirst } from '../../stores/pages.js'
import { type Act, reasonOf } from '../context/actor.js'
import type { RateLimit } from '../limits/rate-limiter.js'
import { networkLine } from '../passwords/password-check.js'
import { type AccessGrant, mintServiceAccess } from '../sessions/tokens.js'
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

export interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** Where a grant was asked for from: `address` as limits count it. */
interface Sender {
  readonly address: string
  readonly source: RequestSource
}

/** What is found under a client id, whatever state it is in. */
interface Found {
  readonly credential: ServiceCredential | null
  readonly account: User | null
}

type Verdict =
  | { readonly ok: true; readonly credential: ServiceCredential; readonly account: User }
  | Refusal

interface Refusal extends Found {
  readonly ok: false
  readonly reason: GrantRefusal
  /** What the caller is told. Default: `invalid_client`. */
  readonly told?: AuthError
}

const failureWindowMs = 5 * 60 * 1000
/** All addresses together may fail for one client id as often as so many of them alone. */
const addressesPerClient = 10
const perClient = 'grantFailuresPerClient'
/** A secret has 47 characters. A longer text is refused without hashing. */
const maxSecretLength = 512
const clientIdForm = /^sa_[A-Za-z0-9_-]{22}$/
const lastUseGrainMs = 60 * 1000

async function find(ctx: SurfaceContext, clientId: string): Promise<Found> {
  const known = clientIdForm.test(clientId) ? clientId : ctx.memory.grants.noClient
  const [credential = null] = await ctx.serviceCredentials.find({ clientId: known }, { limit: 1 })
  return {
    credential,
    account: await ctx.collections.users.get(credential?.accountId ?? ctx.memory.nobody),
  }
}

async function readAgain(ctx: SurfaceContext, credential: ServiceCredential): Promise<Found> {
  const [newest, account] = await Promise.all([
    ctx.serviceCredentials.get(credential.id),
    ctx.collections.users.get(credential.accountId),
  ])
  return { credential: newest, account }
}

/**
 * A pair is verified once for all that bring it at the same time, whether or not there is such a client:
 * a second request must not tell the two apart.
 */
function verify(
  ctx: SurfaceContext,
  { credential }: Found,
  given: ClientCredentials,
  line: HashLine,
) {
  const { clientId, clientSecret: secret } = given
  const hash = secret.length <= maxSecretLength ? (credential?.secretHash ?? null) : null
  const pair = JSON.stringify([clientId, hash, secret])
  return ctx.memory.grants.verification(pair, () => ctx.passwords.verify(hash, secret, line))
}

/** Where a hash is in line, and what it passes through on its way. */
interface Hashing {
  readonly line: HashLine
  readonly through: <T>(work: () => Promise<T>) => Promise<T>
}

async function check(
  ctx: SurfaceContext,
  found: Found,
  given: ClientCredentials,
  { line, through }: Hashing,
): Promise<Verdict> {
  const standing = standingOf(found)
  const { clientSecret } = given
  // It may have been verified while this request waited for others of its own.
  if (isRemembered(ctx, found, clientSecret) && standing.ok) {
    return standingOf(await readAgain(ctx, standing.credential))
  }
  const { value: verdict, isShared } = await through(() => verify(ctx, found, given, line))
  const { ok, rehashTo } = verdict
  if (!standing.ok || !ok) {
    await ctx.passwords.evenOut(verdict)
    return standing.ok ? { ...found, ok: false, reason: 'wrong_secret' } : standing
  }
  // The hash took its time: what was revoked or disabled meanwhile is refused.
  const now = standingOf(await readAgain(ctx, standing.credential))
  if (!now.ok) return now
  ctx.memory.grants.secrets.store(
    now.credential.id,
    now.credential.secretHash,
    clientSecret,
    ctx.clock.now(),
  )
  if (rehashTo !== null && !isShared) {
    await upgrade(ctx, now.credential, () => ctx.passwords.rehash(clientSecret, rehashTo, line))
  }
  return now
}

/** Asked whatever was found: it costs an HMAC, and the time of a refusal must not show its reason. */
function isRemembered(ctx: SurfaceContext, { credential }: Found, secret: string): boolean {
  const { id, secretHash } = credential ?? { id: ctx.memory.nobody, secretHash: '' }
  return ctx.memory.grants.secrets.knows(id, secretHash, secret, ctx.clock.now())
}

/** Transparent, as for passwords: whatever goes wrong here, the grant succeeds. */
async function upgrade(
  ctx: SurfaceContext,
  { id, secretHash: old }: ServiceCredential,
  hashAgain: () => Promise<string>,
) {
  try {
    const secretHash = await hashAgain()
    await ctx.serviceCredentials.update(id, { secretHash: old }, { secretHash })
  } catch (error) {
    ctx.logger.warn('a weak hash of a client secret was not upgraded', describeError(error))
  }
}

const atMost = (limit: number): RateLimit => ({ limit, windowMs: failureWindowMs })

/**
 * Strangers at many addresses can use up the failures of a client id, and no secret can be guessed that way. So what comes
 * then is verified all the same, one hash at a time and the callers in turn, and only what fails is `rate_limited`.
 */
async function checkForClient(
  ctx: SurfaceContext,
  { clientId, limit, line }: { clientId: string; limit: RateLimit; line: HashLine },
  make: (through: Hashing['through']) => Promise<Verdict>,
): Promise<Verdict> {
  try {
    await ctx.limits.checkWith(perClient, clientId, limit)
  } catch (full) {
    if (!(full instanceof AuthError) || full.code !== 'rate_limited') throw full
    // The place is held for the hash alone: a refusal evens out its time beside the line.
    const verdict = await make((work) => ctx.memory.grants.crowded(clientId, line, work))
    return verdict.ok ? verdict : { ...verdict, told: full }
  }
  let failed = false
  try {
    const verdict = await make((work) => work())
    failed = !verdict.ok
    return verdict
  } finally {
    if (!failed) await ctx.limits.forgive(perClient, clientId, 1)
  }
}

/** A guess: it is counted where the caller is, and for the client id. */
async function guess(
  ctx: SurfaceContext,
  found: Found,
  given: ClientCredentials,
  { address, source }: Sender,
): Promise<Verdict> {
  const { clientId } = given
  const { grantFailuresPerClient, grantFailuresPerIp } = await ctx.settings()
  const line = networkLine(ctx.surface, source)
  const pair = JSON.stringify([clientId, address])
  return ctx.memory.grants.perPair.attempt(pair, atMost(grantFailuresPerClient), () =>
    ctx.memory.grants.perIp.attempt(address, atMost(grantFailuresPerIp), () =>
      checkForClient(
        ctx,
        { clientId, line, limit: atMost(grantFailuresPerClient * addressesPerClient) },
        (through) => check(ctx, found, given, { line, through }),
      ),
    ),
  )
}

/** For administrators: no grant waits for it, and it is at most a minute behind. */
function noteUse(ctx: SurfaceContext, { id, lastUsedAt }: ServiceCredential): void {
  const now = ctx.clock.now()
  if (lastUsedAt !== null && now - lastUsedAt < lastUseGrainMs) return
  ctx.background.run('noting the use of a credential', async () => {
    await ctx.serviceCredentials.update(id, { status: 'active' }, { lastUsedAt: now })
  })
}

function refuse(ctx: SurfaceContext, verdict: Refusal, source: RequestSource): never {
  const { credential, account, reason, told } = verdict
  ctx.emit('serviceToken.refused', source, {
    userId: account?.id ?? null,
    credentialId: credential?.id ?? null,
    reason,
  })
  throw told ?? new AuthError('invalid_client')
}

/**
 * The client-credentials grant (RFC 6749 §4.4), the one way to a token for a service account. Any
 * pair of texts that is not an active credential of an enabled service account is refused with
 * `invalid_client`, after exactly one hash verification. Throws `rate_limited` for an address, alone or
 * together with a client id, with too many failures behind it, whether the pair is right or not; and
 * for a wrong pair whose client id has too many failures from all addresses.
 * A secret that was verified a short while ago is not held up by failures. Grants of one pair under way at
 * the same time share the verification.
 */
export async function grantServiceToken(
  ctx: SurfaceContext,
  given: ClientCredentials,
  address: string,
  source: RequestSource,
): Promise<AccessGrant> {
  const { accessTokenTTL } = await ctx.settings()
  const found = await find(ctx, given.clientId)
  const standing = standingOf(found)
  // Only for rows that are good this moment: any other refusal costs one hash. No failures of other
  // callers hold it up, or a stranger could keep a service out.
  const isKnown = isRemembered(ctx, found, given.clientSecret) && standing.ok
  const verdict = isKnown ? standing : await guess(ctx, found, given, { address, source })
  if (!verdict.ok) return refuse(ctx, verdict, source)
  const { account, credential } = verdict
  const grant = await mintServiceAccess(ctx, account, credential.clientId, accessTokenTTL)
  noteUse(ctx, credential)
  const facts = { userId: account.id, credentialId: credential.id }
  ctx.emit('serviceToken.issued', source, facts)
  return grant
}

function standingOf({ credential, account }: Found): Verdict {
  const refused = (reason: GrantRefusal): Verdict => ({ ok: false, credential, account, reason })
  if (credential === null) return refused('unknown_client')
  if (credential.status !== 'active') return refused('credential_revoked')
  if (account?.kind !== 'service') return refused('not_a_service_account')
  if (!account.enabled) return refused('account_disabled')
  return { ok: true, credential, account }
}

// The same grant in the form of RFC 6749: one service, one set of limits, two ways to ask.

/**
 * Throws `invalid_request`, `unsupported_grant_type` and `invalid_scope` before any credential is looked
 * at, and then what a grant throws.
 */
export async function exchangeAtTokenEndpoint(
  ctx: SurfaceContext,
  asked: TokenRequest,
  address: string,
  source: RequestSource,
): Promise<AccessGrant> {
  const read = readTokenRequest(asked)
  if (!read.ok) throw new AuthError(read.code)
  const { clientId, clientSecret } = read
  return grantServiceToken(ctx, { clientId, clientSecret }, address, source)
}
