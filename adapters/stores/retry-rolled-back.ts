/**
 * Sends a statement again that the database itself rolled back, such as the victim of a deadlock: it wrote nothing, so
 * it may be repeated. `isRolledBack` says so of the driver's error, and must be false wherever the statement may have been
 * carried out: a lost connection, a time-out. Rejects with the last error after `tries` of them, 3 by default.
 */
export async function retryRolledBack<Result>(
  isRolledBack: (error: unknown) => boolean,
  send: () => Promise<Result>,
  tries = 3,
): Promise<Result> {
  for (let left = tries - 1; ; left -= 1) {
    try {
      return await send()
    } catch (error) {
      if (left <= 0 || !isRolledBack(error)) throw error
    }
  }
}
