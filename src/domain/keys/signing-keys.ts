import { withTimeout } from '../../concurrency/promises.js'
import {
  type KeyRing,
  type LoadedKeyRing,
  loadKeyRing,
  type RingSigner,
  type SignsRemotely,
} from '../../crypto/key-ring.js'
import { isSignatureOf } from '../../crypto/tokens.js'
import { oncePerWindow } from '../../engine/limits.js'
import { AuthError, describeError, OptionsError } from '../../errors/index.js'
import type { Clock, Logger } from '../../ports/host.js'

export interface SigningKeys {
  /**
   * Throws `service_unavailable` while no key may sign: to be asked before anything is spent or written. A key that is
   * kept elsewhere is asked for a signature, unless it gave one within five seconds. True for such a key: it may fail
   * later all the same.
   */
  requireSigner(): Promise<boolean>
  /**
   * The ring in force. One that a function supplied two minutes ago or earlier may hold a key that was
   * taken out since: then it is read again first. Throws `service_unavailable` where that fails.
   */
  ring(): Promise<LoadedKeyRing>
  /** The ring in force, or null where `ring` would read it again first. */
  ringAtHand(): LoadedKeyRing | null
  /**
   * The ring in which this `kid` was looked for: where it is missing, or the ring is too old, it is read once more.
   * Parallel calls share the read, and such reads begin five seconds apart at least, so that tokens with made-up
   * keys cost the host nothing. Throws `service_unavailable` where the ring cannot be read, or not yet.
   */
  ringFor(kid: string): Promise<LoadedKeyRing>
  /** Reads the ring again and waits for it; rejects, keeping the old ring, when it is not valid. */
  reload(): Promise<void>
  /** Begins to read a supplied function every minute, also while no request comes. */
  watch(): void
  /** Ends what `watch` began. */
  close(): void
}

const readEveryMs = 60_000
const retryEveryMs = 10_000
const trustedForMs = 2 * readEveryMs
const askedEveryMs = 5_000
const answerWithinMs = 10_000
const mostNoted = 1000
const signerProvedForMs = 5_000

interface ReadRing {
  readonly ring: LoadedKeyRing
  /** What signs from now on; null where that stays as it is in the ring. */
  readonly signer: RingSigner | null
}

interface InForce {
  readonly ring: LoadedKeyRing
  /** When the read began that gave it: what the host changed later may not be in it. */
  readonly readAt: number
}

/** `timeoutMs` is how long a signature of `keys.sign` may take. */
export async function createSigningKeys(
  keys: KeyRing | (() => Promise<KeyRing>),
  clock: Clock,
  logger: Logger,
  timeoutMs = 5000,
): Promise<SigningKeys> {
  const remoteSignatures = createRemoteSignatures({ clock, logger, timeoutMs })
  const isSupplied = typeof keys === 'function'
  const begunAt = clock.now()
  let inForce: InForce = { ring: await load(), readAt: begunAt }
  let started = 0
  let newest = 0
  let askedAt: number | null = null
  let asked: Promise<boolean> | null = null
  /** Keys that a read was to find and did not; and those that wait for the next read. */
  const missing = new Set<string>()
  const wanted = new Set<string>()
  let provedAt: number | null = null
  let proving: Promise<void> | null = null
  let cancel = (): void => {}
  let closed = false

  async function supplied(): Promise<KeyRing> {
    if (!isSupplied) return keys
    try {
      return await keys()
    } catch (cause) {
      throw new OptionsError('keys', 'is a function that failed to give a key ring', { cause })
    }
  }

  async function load(): Promise<LoadedKeyRing> {
    const loaded = await loadKeyRing(await supplied(), remoteSignatures)
    await requireSignature(loaded)
    warnOf(loaded)
    return loaded
  }

  function warnOf({ warnings }: LoadedKeyRing): void {
    for (const warning of warnings) logger.warn(warning)
  }

  /**
   * A ring that was read, beside the one in force. If it has the same keys, only the signer is new: verified tokens
   * stay remembered, and a warning is logged once. A signer that gives no good signature is not taken, and the keys go
   * on verifying, which needs no signer.
   */
  async function read(before: LoadedKeyRing): Promise<ReadRing> {
    const given = await withTimeout(supplied(), answerWithinMs, clock)
    const loaded = await loadKeyRing(given, remoteSignatures)
    if (!areSame(loaded, before)) {
      await requireSignature(loaded)
      return { ring: loaded, signer: null }
    }
    try {
      await requireSignature(loaded)
      return { ring: before, signer: loaded.signer }
    } catch (error) {
      logger.error('keys.sign is another and gave no good signature', describeError(error))
      return { ring: before, signer: null }
    }
  }

  async function reload(): Promise<void> {
    started += 1
    const mine = started
    const readAt = clock.now()
    const looked = [...wanted]
    wanted.clear()
    const before = inForce.ring
    const { ring, signer } = await read(before)
    // A slow read that began earlier must not undo a newer one; one that failed undoes nothing.
    if (mine < newest) return
    newest = mine
    if (ring !== before) warnOf(ring)
    if (signer !== null) Object.assign(ring.signer, signer)
    inForce = { ring, readAt }
    for (const kid of looked) note(missing, kid)
  }

  function note(kids: Set<string>, kid: string): void {
    const oldest = kids.size < mostNoted ? undefined : kids.values().next().value
    if (oldest !== undefined) kids.delete(oldest)
    kids.add(kid)
  }

  /** False when it failed. Requests go on with the ring at hand for as long as it is trusted. */
  async function reloadQuietly(): Promise<boolean> {
    try {
      await reload()
      return true
    } catch (error) {
      logger.error('the key ring could not be read again', describeError(error))
      return false
    }
  }

  /** Null where no read may begin yet. */
  async function readOnDemand(): Promise<'read' | 'failed' | null> {
    const since = askedAt === null ? askedEveryMs : clock.now() - askedAt
    if (asked === null && (since < 0 || since >= askedEveryMs)) {
      askedAt = clock.now()
      asked = reloadQuietly().finally(() => {
        asked = null
      })
    }
    if (asked === null) return null
    return (await asked) ? 'read' : 'failed'
  }

  /** A clock that stepped back must not keep a key in force that was taken out. */
  function isTrusted(): boolean {
    if (!isSupplied) return true
    const age = clock.now() - inForce.readAt
    return age >= 0 && age < trustedForMs
  }

  function trusted(): LoadedKeyRing {
    if (isTrusted()) return inForce.ring
    throw new AuthError('service_unavailable', {
      cause: new OptionsError('keys', 'is a function that gave no key ring for two minutes'),
    })
  }

  async function readOnTime(): Promise<void> {
    const isRead = await reloadQuietly()
    if (!closed) schedule(isRead ? readEveryMs : retryEveryMs)
  }

  function schedule(ms: number): void {
    cancel = clock.after(ms, () => {
      void readOnTime()
    })
  }

  async function ring(): Promise<LoadedKeyRing> {
    // A process that stood still, as serverless ones do, comes here before its timer.
    if (isTrusted()) return inForce.ring
    await readOnDemand()
    return trusted()
  }

  async function prove({ signer }: LoadedKeyRing): Promise<void> {
    await signer.sign(sample)
    provedAt = clock.now()
  }

  return {
    reload,
    ring,
    async requireSigner() {
      const inUse = await ring()
      if (!inUse.signer.isElsewhere) return false
      const age = provedAt === null ? signerProvedForMs : clock.now() - provedAt
      if (age >= 0 && age < signerProvedForMs) return true
      // Logins that come together share one signature.
      proving ??= prove(inUse).finally(() => {
        proving = null
      })
      await proving
      return true
    },
    ringAtHand: () => (isTrusted() ? inForce.ring : null),
    async ringFor(kid) {
      const isKnown = () => inForce.ring.verifyingKeys.has(kid)
      if (!isSupplied || isKnown()) return ring()
      note(wanted, kid)
      const outcome = await readOnDemand()
      // Not looked for yet: the token may be good, and a 401 would say that it is not.
      const isLookedFor = outcome === 'read' || (outcome === null && missing.has(kid))
      if (!isLookedFor) throw new AuthError('service_unavailable')
      return trusted()
    },
    watch() {
      if (isSupplied) schedule(readEveryMs)
    },
    close() {
      closed = true
      cancel()
    },
  }
}

/** Equal keys in equal places: the first is the one that signs. */
function areSame(one: LoadedKeyRing, other: LoadedKeyRing): boolean {
  return JSON.stringify(one.jwks()) === JSON.stringify(other.jwks())
}

/** Not of the form of a token: it is worth nothing beside this check. */
const sample = Buffer.from('a first signature of keys.sign')

async function requireSignature({ signer }: LoadedKeyRing): Promise<void> {
  if (!signer.isElsewhere) return
  try {
    await signer.sign(sample)
  } catch (cause) {
    throw new OptionsError(
      'keys.sign',
      'gave no RS256 signature that keys.current verifies (RSASSA-PKCS1-v1_5 with SHA-256)',
      { cause },
    )
  }
}

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
  /** How long a signature may take, its time in the line included. */
  readonly timeoutMs: number
}

/** Signs by the host's `keys.sign`. Throws `service_unavailable` for a signature that is not good, or not there in time. */
export type RemoteSignatures = SignsRemotely

/** Signatures asked for at once, and those that wait for their turn. */
const mostAtOnce = 64
const mostWaiting = 1000

/** Failures come with every request while the signer is away: the log says so once a minute. */
const saidEveryMs = 60_000

/**
 * One line for all keys of a process. Each signature is verified: a key that was rotated where it is kept, and not
 * here, must not give tokens that no verifier accepts.
 */
export function createRemoteSignatures({ clock, logger, timeoutMs }: Deps): RemoteSignatures {
  const takeTurn = turns()
  const isFirst = oncePerWindow()

  return ({ kid, publicKey, sign }) =>
    async (data) => {
      const abandoned = new AbortController()
      const { signal } = abandoned
      const ask = () => sign({ kid, alg: 'RS256', data, signal })
      try {
        const signature = await withTimeout(takeTurn(ask, signal), timeoutMs, clock)
        if (isSignatureOf(publicKey, data, signature)) return signature
        throw new TypeError('the signature is not one of keys.current')
      } catch (cause) {
        abandoned.abort()
        if (isFirst('', saidEveryMs, clock.now())) {
          logger.error('keys.sign gave no good signature', describeError(cause))
        }
        throw new AuthError('service_unavailable', { cause })
      }
    }
}

/** Runs work in the order it comes, so much of it at once. What is aborted gives its place to the next. */
function turns(): <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  let running = 0
  const waiting = new Set<() => void>()

  function leave(): void {
    const [next] = waiting
    if (next === undefined) running -= 1
    else next()
  }

  async function enter(signal: AbortSignal): Promise<void> {
    if (running < mostAtOnce) {
      running += 1
      return
    }
    if (waiting.size >= mostWaiting) throw new RangeError('too many signatures are waited for')
    await new Promise<void>((resolve) => {
      const proceed = () => {
        waiting.delete(proceed)
        resolve()
      }
      waiting.add(proceed)
      signal.addEventListener('abort', () => waiting.delete(proceed), { once: true })
    })
  }

  return async (work, signal) => {
    await enter(signal)
    let isHeld = true
    const leaveOnce = () => {
      if (isHeld) leave()
      isHeld = false
    }
    // A signer that never answers must not keep its place for good.
    signal.addEventListener('abort', leaveOnce, { once: true })
    try {
      if (signal.aborted) throw new RangeError('the turn came too late')
      return await work()
    } finally {
      leaveOnce()
    }
  }
}
