/** Removes at most `limit` entries that `due` accepts; how many. */
export function removeFirst<V>(
  entries: Map<string, V>,
  limit: number,
  due: (value: V) => boolean,
): number {
  let removed = 0
  for (const [key, value] of entries) {
    if (removed === limit) break
    if (!due(value)) continue
    entries.delete(key)
    removed += 1
  }
  return removed
}
