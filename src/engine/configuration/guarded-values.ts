/**
 * The values of a module, frozen, its record lists and their elements too. To read a secret that does
 * not decrypt throws what `refuse` throws: it is neither empty nor its default.
 */
export function guardedValues<T extends object>(
  values: T,
  unreadable: readonly string[],
  refuse: (key: string) => never,
): Readonly<T> {
  function guard<Target extends object>(target: Target, prefix: string): Readonly<Target> {
    for (const key of unreadable) {
      const name = key.slice(prefix.length)
      if (!key.startsWith(prefix) || !Object.hasOwn(target, name)) continue
      Object.defineProperty(target, name, { enumerable: true, get: () => refuse(key) })
    }
    return Object.freeze(target)
  }

  const guarded = { ...values }
  const members: [string, unknown][] = Object.entries(values)
  for (const [key, value] of members) {
    if (!Array.isArray(value)) continue
    const elements = value.map((element: { readonly slug: string }) =>
      guard({ ...element }, `${key}.${element.slug}.`),
    )
    Object.assign(guarded, { [key]: Object.freeze(elements) })
  }
  return guard(guarded, '')
}
