import type { Server } from 'node:http'
import { closeAuth } from './auth.ts'

/**
 * At SIGTERM and Ctrl-C: takes no new connections, lets requests under way finish for five seconds, then closes the
 * library and the database. A database that hangs keeps the process for 30 seconds at most. `stopServer` resolves when
 * no connection is open.
 */
export function stopOnSignals(
  server: Pick<Server, 'closeAllConnections'>,
  stopServer: () => Promise<unknown>,
): void {
  let isStopping = false

  async function stop(): Promise<void> {
    const late = setTimeout(() => server.closeAllConnections(), 5000)
    await stopServer()
    clearTimeout(late)
    await closeAuth()
    console.log('Stopped.')
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (isStopping) return
      isStopping = true
      setTimeout(() => process.exit(1), 30_000).unref()
      stop().catch((error: unknown) => {
        console.error(error)
        process.exitCode = 1
      })
    })
  }
}
