import type { Server } from 'node:http'
import type { Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'

export interface RunningHost {
  readonly url: string
  close(): Promise<void>
}

/** A real server on a free port. */
export async function listen(server: Server | Http2Server): Promise<RunningHost> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve, reject) => {
        if ('closeAllConnections' in server) server.closeAllConnections()
        server.close((error) => (error ? reject(error) : resolve()))
      }),
  }
}
