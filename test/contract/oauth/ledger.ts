import type { Backend } from '../../../src/ports/backend.js'
import { type Call, withCall } from '../../support/stores/faulty-backend.js'

/** What a sign-in leaves behind if it comes to its end: not a flow, and no record of a failure. */
const lasting =
  /^(\w+_(?:users|oauth_identities|oauth_codes|sessions|refresh_tokens))\.(insert|take)$/

/** Remembers how many documents were added to each collection and not taken out again. */
export function ledger() {
  const kept = new Map<string, number>()
  const note: Call = async (called, work) => {
    const result = await work()
    const [, collection = '', method] = lasting.exec(called) ?? []
    const change = method === 'insert' ? Number(result === true) : -Number(result !== null)
    if (method !== undefined) kept.set(collection, (kept.get(collection) ?? 0) + change)
    return result
  }
  return {
    watched: (backend: Backend) => withCall(backend, note),
    /** A name for each document, sorted. */
    names: () => [...kept].flatMap(([name, count]) => Array<string>(count).fill(name)).sort(),
  }
}
