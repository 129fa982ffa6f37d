type Values = Readonly<Record<string, string>>

/**
 * A copy in which each text is what `change` makes of it; null leaves its key out.
 *
 * It inherits nothing while it is filled: any key may be set then, and it is a hash table from its start, which
 * costs a quarter of an object that becomes one while it grows.
 */
export function mapTexts(
  values: Values,
  change: (key: string, text: string) => string | null,
): Record<string, string> {
  const copy: Record<string, string> = Object.create(null)
  for (const key of Object.keys(values)) {
    const text = change(key, values[key] ?? '')
    if (text !== null) copy[key] = text
  }
  return Object.setPrototypeOf(copy, Object.prototype)
}
