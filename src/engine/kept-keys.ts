const mostKeys = 4

/**
 * The random keys, each of `length` characters of base64url, in what a browser or app keeps of several
 * things of one kind, the newest first. Any other text is left out.
 */
export function keysIn(kept: string | null, length: number): readonly string[] {
  const parts = (kept ?? '').slice(0, 1024).split('.')
  const keys = parts.filter((part) => part.length === length && /^[\w-]+$/.test(part))
  return [...new Set(keys)].slice(0, mostKeys)
}

/** What is to be kept from now on, the newest first; the oldest give way. */
export function keptKeys(newest: string, others: readonly string[]): string {
  return [newest, ...others].slice(0, mostKeys).join('.')
}
