import type { ClientEnvironment } from './client-environment.js'
import { type Hold, ownLock } from './own-lock.js'

/** Milliseconds after which work goes on without the lock: longer than a rotation and the question after it. */
const patience = 30_000

/** A lock that tabs share where the browser has Web Locks, else a lock of this tab alone. */
export function tabLock(name: string, { locks, after }: ClientEnvironment): Hold {
  return locks === null ? ownLock() : lockOfTabs(name, locks, after)
}

function lockOfTabs(
  name: string,
  locks: NonNullable<ClientEnvironment['locks']>,
  after: ClientEnvironment['after'],
): Hold {
  return (work) => {
    let isHeld = false
    const waiting = new AbortController()
    const cancel = after(patience, () => waiting.abort())
    const run = () => {
      isHeld = true
      cancel()
      return work()
    }
    return locks.request(name, { signal: waiting.signal }, run).catch((error: unknown) => {
      // Refused by the browser, or held for too long: the ten seconds of grace make up for it.
      if (isHeld) throw error
      return run()
    })
  }
}
