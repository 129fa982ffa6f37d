import type { ClientEnvironment } from './client-environment.js'
import type { PosternProblem } from './postern-error.js'

/** Resolves `ms` milliseconds from now. */
export function sleep({ after }: Pick<ClientEnvironment, 'after'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    after(ms, resolve)
  })
}

/** How long to wait after a 503: what it asks for, at most 5 seconds, and up to half as much more. */
export function pauseMs(
  { random }: Pick<ClientEnvironment, 'random'>,
  problem: PosternProblem | undefined,
): number {
  return Math.min(problem?.retryAfter ?? 1, 5) * 1000 * (1 + random() / 2)
}
