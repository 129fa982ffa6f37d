import type { Collection, Doc, Page } from '../ports/store.js'

const pageSize = 200

type Finding<T extends Doc> = Pick<Collection<T>, 'find'>

/** The pages of one index value, until one is empty: a page may be short though more follow. */
export async function* pagesOf<T extends Doc>(
  collection: Finding<T>,
  equal: Partial<T>,
  first: Page = { limit: pageSize },
): AsyncGenerator<readonly T[]> {
  let page = first
  for (;;) {
    const found = await collection.find(equal, page)
    const last = found.at(-1)
    if (last === undefined) return
    yield found
    page = { ...page, after: last.id }
  }
}

/**
 * The same, newest first and up to the first short page, for what may miss a document while others go: it saves a call where one page
 * has all.
 */
export async function* pagesUntilShort<T extends Doc>(
  collection: Finding<T>,
  equal: Partial<T>,
): AsyncGenerator<readonly T[]> {
  for await (const page of pagesOf(collection, equal, { limit: pageSize, newestFirst: true })) {
    yield page
    if (page.length < pageSize) return
  }
}

/** Every document of one index value, newest first, a page at a time. */
export async function* newestFirst<T extends Doc>(
  collection: Finding<T>,
  equal: Partial<T>,
): AsyncGenerator<T> {
  const pages = pagesOf(collection, equal, { limit: pageSize, newestFirst: true })
  for await (const page of pages) yield* page
}

/** At least as many documents as the page asks for, or all that there are. */
export async function fullPage<T extends Doc>(
  collection: Finding<T>,
  equal: Partial<T>,
  asked: Page,
): Promise<readonly T[]> {
  const found: T[] = []
  for await (const page of pagesOf(collection, equal, asked)) {
    found.push(...page)
    if (found.length >= asked.limit) break
  }
  return found
}
