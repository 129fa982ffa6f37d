import type { Backend } from '../ports/backend.js'

/** An id that nothing has, and a time before everything. */
const none = 'migrate'
const beforeAll = 0

/**
 * Asks denylist, lease and counter once, which changes nothing. Each may be another backend's than the
 * store, and one that was not prepared has to stop the start and not the first request. Rejects in time
 * when `backend` does.
 */
export async function requirePrepared({ denylist, lease, counter }: Backend): Promise<void> {
  await asked('denylist', () => denylist.find([none]))
  await asked('lease', () => lease.read(none))
  await asked('counter', () => counter.sweep(beforeAll, 1))
}

async function asked(member: string, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask()
  } catch (cause) {
    throw new Error(
      `auth.migrate: backend.${member} does not answer; if it belongs to a backend that keeps none of ` +
        'the collections, await store.prepare([]) of that backend before',
      { cause },
    )
  }
}
