const shelves = ['fast', 'stores', 'browser', 'all'] as const

export type Shelf = (typeof shelves)[number]

/** Throws for a name that is no shelf's. */
export function shelfNamed(name: string): Shelf {
  const known = shelves.find((shelf) => shelf === name)
  if (known === undefined) throw new Error(`SHELF is one of ${shelves.join(', ')}`)
  return known
}

const fast =
  'engine crypto domain http settings model ports stores concurrency setup flows openapi contract security client fuzz adapters'.split(
    ' ',
  )

/** Whether the shelf runs a test file, given by its path below the repository. */
export function isOnShelf(shelf: Shelf, file: string): boolean {
  if (shelf === 'all') return true
  return shelf === 'fast' && fast.some((folder) => file.startsWith(`test/${folder}/`))
}
