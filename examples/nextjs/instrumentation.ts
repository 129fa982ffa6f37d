/** Called once, before the first request. Node alone runs what is imported; the edge does not. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') await import('./instrumentation-node.ts')
}
