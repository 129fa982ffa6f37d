import { connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a server and can lose an answer the way a broken line loses it. */
export interface LosingProxy {
  readonly port: number
  /**
   * The next request that holds this text is passed on; when its answer comes, the connection
   * breaks instead.
   */
  loseAnswerTo(text: string): void
  /** How many requests held the text of the answer lost last. */
  readonly requests: number
  close(): Promise<void>
}

export async function losingProxy(host: string, port: number): Promise<LosingProxy> {
  const sockets = new Set<Socket>()
  let watched: string | null = null
  let isArmed = false
  let requests = 0
  const server = createServer((near) => {
    const far = connect(port, host)
    let isLost = false
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (request) => {
      if (watched !== null && request.includes(watched)) {
        requests += 1
        isLost = isArmed
        isArmed = false
      }
      far.write(request)
    })
    far.on('data', (answer) => {
      if (isLost) near.destroy()
      else near.write(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: address && typeof address === 'object' ? address.port : 0,
    loseAnswerTo(text) {
      watched = text
      isArmed = true
      requests = 0
    },
    get requests() {
      return requests
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
