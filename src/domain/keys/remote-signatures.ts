import { withTimeout } from '../../concurrency/promises.js'
import type { SignsRemotely } from '../../crypto/key-ring.js'
import { isSignatureOf } from '../../crypto/tokens.js'
import { oncePerWindow } from '../../engine/limits.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { Clock, Logger } from '../../ports/host.js'

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
