import type { Collection, Doc } from '../ports/store.js'

const pageSize = 200

/** Every document of one index value, newest first, a page at a time. */
export async function* newestFirst<T extends Doc>(
  collection: Pick<Collection<T>, 'find'>,
  equal: Partial<T>,
): AsyncGenerator<T> {
  let page: readonly T[]
  let next: { readonly after?: string } = {}
  do {
    page = await collection.find(equal, { limit: pageSize, newestFirst: true, ...next })
    yield* page
    next = { after: page.at(-1)?.id ?? '' }
  } while (page.length === pageSize)
}
