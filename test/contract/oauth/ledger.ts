import type { Backend } from '../../../src/ports/backend.js'
import type { Store } from '../../../src/ports/store.js'
import { type Call, withCall } from '../../support/stores/faulty-backend.js'

/** What a sign-in leaves behind if it comes to its end: no record of a failure. */
const lasting = /^(\w+_(?:users|oauth_identities|sessions|refresh_tokens))\.(insert|take)$/

/** The code of an app too, but no flow: both are challenges. */
function notingCodes(backend: Backend, note: (collection: string) => void): Backend {
  const { store } = backend
  const collection: Store['collection'] = (spec) => {
    const right = store.collection(spec)
    if (!spec.name.endsWith('_challenges')) return right
    return {
      ...right,
      async insert(doc) {
        if (Reflect.get(doc, 'kind') === 'appCode') note(spec.name)
        return right.insert(doc)
      },
    }
  }
  return { ...backend, store: { ...store, collection } }
}

/** Remembers how many documents were added to each collection and not taken out again. */
export function ledger() {
  const kept = new Map<string, number>()
  const add = (collection: string, change: number) =>
    kept.set(collection, (kept.get(collection) ?? 0) + change)
  const note: Call = async (called, work) => {
    const result = await work()
    const [, collection = '', method] = lasting.exec(called) ?? []
    const change = method === 'insert' ? Number(result === true) : -Number(result !== null)
    if (method !== undefined) add(collection, change)
    return result
  }
  return {
    watched: (backend: Backend) =>
      withCall(
        notingCodes(backend, (collection) => add(collection, 1)),
        note,
      ),
    /** A name for each document, sorted. */
    names: () => [...kept].flatMap(([name, count]) => Array<string>(count).fill(name)).sort(),
  }
}
