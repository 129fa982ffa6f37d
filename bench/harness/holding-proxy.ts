import { connect, createServer, type Socket } from 'node:net'

/** Stands between a pool and its server, and lets a connection die without a word. */
export interface HoldingProxy {
  /** `url` with this proxy in place of its server. */
  readonly url: string
  /** The next connection that sends something is never answered, and never closed. */
  holdNext(): void
  /** Whether a connection is held now. */
  isHolding(): boolean
  /** Closes what is held, so that the pool opens another. */
  release(): void
  close(): Promise<void>
}

export async function holdingProxy(url: string): Promise<HoldingProxy> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let holdsNext = false
  let held: readonly Socket[] = []
  const server = createServer((near) => {
    const far = connect(Number(port || 5432), hostname)
    let isHeld = false
    for (const socket of [near, far]) {
      socket.setNoDelay(true)
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (request) => {
      if (holdsNext) {
        holdsNext = false
        isHeld = true
        held = [near, far]
      }
      if (!isHeld) far.write(request)
    })
    far.on('data', (answer) => {
      if (!isHeld) near.write(answer)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const own = new URL(url)
  own.hostname = '127.0.0.1'
  own.port = String(address && typeof address === 'object' ? address.port : 0)
  return {
    url: own.href,
    holdNext() {
      holdsNext = true
    },
    isHolding: () => held.length > 0,
    release() {
      for (const socket of held) socket.destroy()
      held = []
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
