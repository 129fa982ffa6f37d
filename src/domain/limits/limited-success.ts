import type { RateLimiter } from './rate-limiter.js'
import type { HandedBackName } from './rate-limits.js'

/**
 * Makes an attempt that counts only when it succeeds. It is counted before it is made, so that parallel
 * ones cannot exceed the limit, and handed back when it throws. Throws `rate_limited` without making it
 * when the limit is used up.
 */
export async function limitedSuccess<T>(
  limits: RateLimiter,
  name: HandedBackName,
  subject: string,
  make: () => Promise<T>,
): Promise<T> {
  await limits.check(name, subject)
  return make().catch(async (error: unknown) => {
    await limits.forgive(name, subject, 1)
    throw error
  })
}
