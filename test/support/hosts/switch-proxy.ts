import { connect, createServer, type Socket } from 'node:net'

/** The one address that clients know of a server, whichever machine has the part just now. */
export interface SwitchProxy {
  readonly port: number
  /** From now on connections lead there; those that are open break. */
  leadTo(port: number): void
  close(): Promise<void>
}

export async function switchProxy(first: number): Promise<SwitchProxy> {
  const sockets = new Set<Socket>()
  let target = first
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: address && typeof address === 'object' ? address.port : 0,
    leadTo(port) {
      target = port
      hangUp()
    },
    async close() {
      hangUp()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
