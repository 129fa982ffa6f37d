import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ports that systems give to outgoing connections (32768 and more on Linux, 49152 elsewhere): between the
 * look and the use a connection of another test cannot take it.
 */
const [lowest, highest] = [12_000, 32_000]

/** A port of 127.0.0.1 without a listener, below `end`. */
export async function freePort(end = highest): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, end)
    if (await isFree(port)) return port
  }
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
