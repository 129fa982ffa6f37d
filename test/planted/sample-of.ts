/** `count` of them, beginning one place further along the list for each one taken the day before. */
export function sampleOf<T>(list: readonly T[], count: number, day: number): readonly T[] {
  const start = (day * count) % list.length
  return [...list, ...list].slice(start, start + Math.min(count, list.length))
}
