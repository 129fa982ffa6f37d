import { AuthError } from '../errors/index.js'

/** What an attempt answers when another writer came between its read and its guarded write. */
export const conflict: unique symbol = Symbol('conflict')

/**
 * Runs `attempt`, which reads, decides and writes with a guard, until it answers something else than
 * `conflict`, at most `attempts` times. Each attempt reads what the other writer left. After the last
 * one `exhausted` answers, which throws `service_unavailable` by default.
 *
 * @example
 * return retryOnConflict(10, async () => {
 *   const user = await users.get(id)
 *   if (user === null) return null
 *   const { epoch } = user
 *   return (await users.update(id, { epoch }, { epoch: epoch + 1 })) ?? conflict
 * })
 */
export async function retryOnConflict<T>(
  attempts: number,
  attempt: () => Promise<T | typeof conflict>,
  exhausted: () => T = unavailable,
): Promise<T> {
  for (let count = 0; count < attempts; count += 1) {
    const answer = await attempt()
    if (answer !== conflict) return answer
  }
  return exhausted()
}

function unavailable(): never {
  throw new AuthError('service_unavailable')
}
