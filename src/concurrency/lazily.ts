/** What `make` gives, made at the first call and then the same for all. After a call that threw, the next makes it. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
