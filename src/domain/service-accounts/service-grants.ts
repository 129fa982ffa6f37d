import { createSharedWork } from '../../concurrency/promises.js'
import type { HashLine } from '../../crypto/hash-gate.js'
import { secretMemo } from '../../crypto/memos.js'
import { randomToken, uuidv7 } from '../../crypto/secrets.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { ServiceCredential, User } from '../../model/user.js'
import type { GrantRefusal } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { createFailureThrottle } from '../limits/failure-throttle.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { networkLine } from '../passwords/hash-lines.js'
import type { PasswordHashes, PasswordVerdict } from '../passwords/password-hashes.js'
import type { AccessGrant, Tokens } from '../sessions/tokens.js'

export interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

export interface ServiceGrants {
  /**
   * The client-credentials grant (RFC 6749 §4.4), the one way to a token for a service account. Any
   * pair of texts that is not an active credential of an enabled service account is refused with
   * `invalid_client`, after exactly one hash verification. Throws `rate_limited` for an address, a
   * client id or the two together with too many failures behind them, whether the pair is right or not.
   * A secret that was verified a short while ago is not held up by failures. Grants of one pair under way at
   * the same time share the verification.
   */
  grant(given: ClientCredentials, address: string, source: RequestSource): Promise<AccessGrant>
}

interface Deps
  extends Pick<
    SurfaceContext,
    | 'surface'
    | 'collections'
    | 'serviceCredentials'
    | 'settings'
    | 'clock'
    | 'random'
    | 'background'
    | 'emit'
    | 'logger'
  > {
  readonly limits: RateLimiter
  readonly passwords: PasswordHashes
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
  | (Found & { readonly ok: false; readonly reason: GrantRefusal })

const failureWindowMs = 5 * 60 * 1000
/** All addresses together may fail for one client id as often as so many of them alone. */
const addressesPerClient = 10
/** A secret has 47 characters. A longer text is refused without hashing. */
const maxSecretLength = 512
const clientIdForm = /^sa_[A-Za-z0-9_-]{22}$/
const lastUseGrainMs = 60 * 1000

export function createServiceGrants(deps: Deps, tokens: Tokens): ServiceGrants {
  const { clock, random, serviceCredentials } = deps
  const { users } = deps.collections
  const memo = secretMemo(random)
  const verification = createSharedWork<PasswordVerdict>()
  const perClient = createFailureThrottle(deps, 'grantFailuresPerClient')
  const perPair = createFailureThrottle(deps, 'grantFailuresPerClientAndIp')
  const perIp = createFailureThrottle(deps, 'grantFailuresPerIp')
  // Asked for where there is nothing to ask for, so that every grant makes the same reads.
  const nobody = uuidv7(clock.now(), random)
  const noClient = `sa_${randomToken(random, 16)}`

  async function find(clientId: string): Promise<Found> {
    const known = clientIdForm.test(clientId) ? clientId : noClient
    const [credential = null] = await serviceCredentials.find({ clientId: known }, { limit: 1 })
    return { credential, account: await users.get(credential?.accountId ?? nobody) }
  }

  async function readAgain(credential: ServiceCredential): Promise<Found> {
    const [newest, account] = await Promise.all([
      serviceCredentials.get(credential.id),
      users.get(credential.accountId),
    ])
    return { credential: newest, account }
  }

  /**
   * A pair is verified once for all that bring it at the same time, whether or not there is such a client:
   * a second request must not tell the two apart.
   */
  function verify({ credential }: Found, given: ClientCredentials, line: HashLine) {
    const { clientId, clientSecret: secret } = given
    const hash = secret.length <= maxSecretLength ? (credential?.secretHash ?? null) : null
    const pair = JSON.stringify([clientId, hash, secret])
    return verification(pair, () => deps.passwords.verify(hash, secret, line))
  }

  async function check(found: Found, given: ClientCredentials, line: HashLine): Promise<Verdict> {
    const standing = standingOf(found)
    const { clientSecret } = given
    // It may have been verified while this request waited for others of its own.
    if (isRemembered(found, clientSecret) && standing.ok) {
      return standingOf(await readAgain(standing.credential))
    }
    const { value: verdict, isShared } = await verify(found, given, line)
    const { ok, rehashTo } = verdict
    if (!standing.ok || !ok) {
      await deps.passwords.evenOut(verdict)
      return standing.ok ? { ...found, ok: false, reason: 'wrong_secret' } : standing
    }
    // The hash took its time: what was revoked or disabled meanwhile is refused.
    const now = standingOf(await readAgain(standing.credential))
    if (!now.ok) return now
    memo.store(now.credential.id, now.credential.secretHash, clientSecret, clock.now())
    if (rehashTo !== null && !isShared) {
      await upgrade(now.credential, () => deps.passwords.rehash(clientSecret, rehashTo, line))
    }
    return now
  }

  /** Asked whatever was found: it costs an HMAC, and the time of a refusal must not show its reason. */
  function isRemembered({ credential }: Found, secret: string): boolean {
    const { id, secretHash } = credential ?? { id: nobody, secretHash: '' }
    return memo.knows(id, secretHash, secret, clock.now())
  }

  /** Transparent, as for passwords: whatever goes wrong here, the grant succeeds. */
  async function upgrade(
    { id, secretHash: old }: ServiceCredential,
    hashAgain: () => Promise<string>,
  ) {
    try {
      const secretHash = await hashAgain()
      await serviceCredentials.update(id, { secretHash: old }, { secretHash })
    } catch (error) {
      deps.logger.warn('a weak hash of a client secret was not upgraded', describeError(error))
    }
  }

  /** A guess: it is counted where the caller is, and for the client id. */
  async function guess(
    found: Found,
    given: ClientCredentials,
    { address, source }: Sender,
  ): Promise<Verdict> {
    const { clientId } = given
    const { grantFailuresPerClient, grantFailuresPerIp } = await deps.settings()
    const atMost = (limit: number) => ({ limit, windowMs: failureWindowMs })
    const line = networkLine(deps.surface, source)
    const pair = JSON.stringify([clientId, address])
    // The client first: a grant that waits for others of its client holds no place of its address.
    return perClient.attempt(clientId, atMost(grantFailuresPerClient * addressesPerClient), () =>
      perPair.attempt(pair, atMost(grantFailuresPerClient), () =>
        perIp.attempt(address, atMost(grantFailuresPerIp), () => check(found, given, line)),
      ),
    )
  }

  /** For administrators: no grant waits for it, and it is at most a minute behind. */
  function noteUse({ id, lastUsedAt }: ServiceCredential): void {
    const now = clock.now()
    if (lastUsedAt !== null && now - lastUsedAt < lastUseGrainMs) return
    deps.background.run('noting the use of a credential', async () => {
      await serviceCredentials.update(id, { status: 'active' }, { lastUsedAt: now })
    })
  }

  function refuse(verdict: Extract<Verdict, { readonly ok: false }>, source: RequestSource): never {
    const { credential, account, reason } = verdict
    deps.emit('serviceToken.refused', source, {
      userId: account?.id ?? null,
      credentialId: credential?.id ?? null,
      reason,
    })
    throw new AuthError('invalid_client')
  }

  return {
    async grant(given, address, source) {
      const { accessTokenTTL } = await deps.settings()
      const found = await find(given.clientId)
      const standing = standingOf(found)
      // Only for rows that are good this moment: any other refusal costs one hash. No failures of other
      // callers hold it up, or a stranger could keep a service out.
      const isKnown = isRemembered(found, given.clientSecret) && standing.ok
      const verdict = isKnown ? standing : await guess(found, given, { address, source })
      if (!verdict.ok) return refuse(verdict, source)
      const { account, credential } = verdict
      const grant = await tokens.service(account, accessTokenTTL)
      noteUse(credential)
      const facts = { userId: account.id, credentialId: credential.id }
      deps.emit('serviceToken.issued', source, facts)
      return grant
    },
  }
}

function standingOf({ credential, account }: Found): Verdict {
  const refused = (reason: GrantRefusal): Verdict => ({ ok: false, credential, account, reason })
  if (credential === null) return refused('unknown_client')
  if (credential.status !== 'active') return refused('credential_revoked')
  if (account?.kind !== 'service') return refused('not_a_service_account')
  if (!account.enabled) return refused('account_disabled')
  return { ok: true, credential, account }
}
