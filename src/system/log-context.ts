import { AsyncLocalStorage } from 'node:async_hooks'
import type { LogContext, LoggedRequest } from '../ports/telemetry.js'

/** Follows requests by Node's own means. Before Node 24 each promise of the process then takes 0.1 µs longer. */
export function createLogContext(): LogContext {
  const storage = new AsyncLocalStorage<LoggedRequest>()
  return {
    within: (request, work) => storage.run(request, work),
    current: () => storage.getStore() ?? null,
  }
}
