import { allCollectionSpecs, type CollectionName, collectionNames } from '../model/collections.js'
import type { AnyCollectionSpec, Store } from '../ports/store.js'

/** The stores that `splitStore` combines. */
export interface StoreSplit {
  /** Holds every collection that `overrides` does not name. */
  readonly default: Store
  /**
   * Other stores by collection name, such as `refresh_tokens` and `challenges`: the name of the table
   * without prefix and surface. The collections of both surfaces go there.
   */
  readonly overrides: { readonly [Name in CollectionName]?: Store }
}

/**
 * Makes one store of several, with some collections in one database and the rest in another.
 * `prepare` prepares each store with the collections it holds and no others. Throws a `TypeError` for
 * an unknown collection name and for a value that is not a store.
 *
 * The library never needs two collections to change together. A crash or an outage of one database
 * between two writes leaves no state that a single database could not leave as well.
 *
 * Denylist, lease and counter are separate ports: each stays in the backend it is taken from.
 *
 * @example
 * import { type Backend, createAuth, splitStore } from 'postern'
 *
 * declare const main: Backend, fast: Backend // such as postgres(pool) and redis(client)
 * const { store, ...rest } = main
 * const overrides = { refresh_tokens: fast.store, challenges: fast.store }
 * const auth = await createAuth({
 *   ...options,
 *   backend: { ...rest, store: splitStore({ default: store, overrides }) },
 * })
 */
export function splitStore(split: StoreSplit): Store {
  checkStore('default', split.default)
  const byName = new Map<string, Store>()
  for (const [name, store] of Object.entries(split.overrides)) {
    checkName(name)
    checkStore(`overrides.${name}`, store)
    byName.set(name, store)
  }
  const storeOf = (collection: string): Store => byName.get(baseNameOf(collection)) ?? split.default
  const all = [split.default, ...byName.values()]

  function sharesOf(specs: readonly AnyCollectionSpec[]): ReadonlyMap<Store, AnyCollectionSpec[]> {
    // The default store even without any: its backend may have tables for the other ports to make.
    const shares = new Map<Store, AnyCollectionSpec[]>(all.map((store) => [store, []]))
    for (const spec of specs) shares.get(storeOf(spec.name))?.push(spec)
    return shares
  }

  return {
    collection: (spec) => storeOf(spec.name).collection(spec),
    async prepare(specs) {
      for (const [store, share] of sharesOf(specs)) await store.prepare(share)
    },
    ...(all.every(({ plan }) => plan !== undefined) && {
      async plan(specs) {
        const shares = [...sharesOf(specs)]
        const plans = await Promise.all(
          shares.map(async ([store, share]) => store.plan?.(share) ?? []),
        )
        return plans.flat()
      },
    }),
    async inspect(specs) {
      const shares = [...sharesOf(specs)]
      const found = await Promise.all(
        shares.map(async ([store, share]) => store.inspect?.(share) ?? []),
      )
      return found.flat()
    },
    async heldBy(removals) {
      const found = await Promise.all(
        all.map(async (store) =>
          store.heldBy?.(removals.filter((one) => storeOf(one.collection) === store)),
        ),
      )
      return found.flatMap((keys) => keys ?? [])
    },
  }
}

/** `refresh_tokens` of `acme_client_refresh_tokens`; empty for what is no collection of ours. */
function baseNameOf(collection: string): string {
  const own = allCollectionSpecs('').map(({ name }) => name)
  const full = own.find((name) => collection.endsWith(name)) ?? ''
  return full.replace(/^(?:operator|client)_/, '')
}

function checkName(name: string): void {
  if (collectionNames.some((known) => known === name)) return
  throw new TypeError(
    `splitStore: option "overrides.${name}" names no collection; ` +
      `they are ${collectionNames.join(', ')}, without prefix and surface`,
  )
}

function checkStore(option: string, store: Partial<Store> | undefined): void {
  if (typeof store?.collection === 'function' && typeof store.prepare === 'function') return
  throw new TypeError(
    `splitStore: option "${option}" must be a store, such as the \`store\` of a backend`,
  )
}
