import { type KeyRing, type LoadedKeyRing, loadKeyRing } from '../../crypto/key-ring.js'
import { describeError, OptionsError } from '../../errors/index.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'

export interface SigningKeys {
  /** The ring in force. Re-reads a supplied function at most once a minute, in the background. */
  ring(): Promise<LoadedKeyRing>
  /** Reads the ring again and waits for it; rejects, keeping the old ring, when it is not valid. */
  reload(): Promise<void>
}

const keyReloadMs = 60_000

export async function createSigningKeys(
  keys: KeyRing | (() => Promise<KeyRing>),
  clock: Clock,
  logger: Logger,
): Promise<SigningKeys> {
  const read = typeof keys === 'function' ? keys : async (): Promise<KeyRing> => keys
  let ring = await load()
  let readAt = clock.now()
  let started = 0
  let newest = 0

  async function supplied(): Promise<KeyRing> {
    try {
      return await read()
    } catch (cause) {
      throw new OptionsError('keys', 'is a function that failed to give a key ring', { cause })
    }
  }

  async function load(): Promise<LoadedKeyRing> {
    const loaded = await loadKeyRing(await supplied())
    for (const warning of loaded.warnings) logger.warn(warning)
    return loaded
  }

  async function reload(): Promise<void> {
    started += 1
    const mine = started
    readAt = clock.now()
    const loaded = await load()
    // A slow read that began earlier must not undo a newer one; one that failed undoes nothing.
    if (mine < newest) return
    newest = mine
    ring = loaded
  }

  return {
    reload,
    async ring() {
      const age = clock.now() - readAt
      // A clock that stepped back must not keep a key in force that was taken out.
      if (typeof keys === 'function' && (age < 0 || age >= keyReloadMs)) {
        // Requests go on with the current ring: a slow or failing key store signs no user out.
        reload().catch((error: unknown) => {
          const fields = describeError(error)
          logger.error('the key ring could not be read again; keeping the present one', fields)
        })
      }
      return ring
    },
  }
}
