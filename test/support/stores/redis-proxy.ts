import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** Stands between a client and its server. */
export interface LosingProxy {
  readonly port: number
  /** The next answer to what is watched is thrown away, and with it the connection it came on. */
  loseNextAnswer(): void
  /** Bytes the client has sent so far, all connections together. */
  readonly sent: string
  close(): Promise<void>
}

/**
 * What a network does that breaks between a command and its answer: the server has carried the
 * command out, and the client sees its connection end. Several proxies can share one `loss`. With a
 * `watched` text only requests that hold it are meant: clients of a cluster ask for its slots, and greet
 * its nodes, whenever they like.
 */
export async function losingProxy(
  target: number,
  loss: { armed: boolean } = { armed: false },
  watched = '',
): Promise<LosingProxy> {
  const open = new Set<Socket>()
  let sent = ''
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    const end = (): void => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        open.delete(socket)
        end()
      })
    }
    let asked = false
    near.on('data', (data) => {
      // What was asked before is not meant.
      asked ||= loss.armed && data.includes(watched)
      sent += data.toString('latin1')
      far.write(data)
    })
    far.on('data', (data) => {
      if (loss.armed && asked) {
        loss.armed = false
        end()
      } else near.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    loseNextAnswer() {
      loss.armed = true
    },
    get sent() {
      return sent
    },
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
