/** Waits for all, and then rejects with the first failure: one that fails keeps back no other. */
export async function allTried<T>(work: Iterable<Promise<T>>): Promise<readonly T[]> {
  const outcomes = await Promise.allSettled(work)
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}
