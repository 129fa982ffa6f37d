/** Pieces of work beside each other, and how often in one call. */
const atOnce = 20
const rounds = 25

/**
 * Works off what is due, a bounded part of it: call it again where there is `more`. `one` has to see to
 * it that its item is due no more at once. An item that fails keeps back none of those beside it; then
 * the call rejects.
 */
export async function workOff<T>(
  due: (limit: number) => Promise<readonly T[]>,
  one: (item: T) => Promise<void>,
): Promise<'more' | 'done'> {
  for (let round = 0; round < rounds; round += 1) {
    const items = await due(atOnce)
    const outcomes = await Promise.allSettled(items.map(one))
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed) throw failed.reason
    if (items.length < atOnce) return 'done'
  }
  return 'more'
}
