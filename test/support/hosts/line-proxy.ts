import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What stands between a client and a server; clients connect to its port. */
interface LineProxy {
  readonly port: number
  /** Breaks every connection that is open. */
  hangUp(): void
  close(): Promise<void>
}

/** What one connection does with what comes along; `answered` says whether the line breaks instead. */
interface Line {
  requested(data: Buffer): void
  answered(): boolean
}

type Target = { readonly host?: string; readonly port: number }

async function lineProxy(target: () => Target, newLine: () => Line): Promise<LineProxy> {
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', ...target() })
    const line = newLine()
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
    near.on('data', (data) => {
      line.requested(data)
      far.write(data)
    })
    far.on('data', (data) => {
      if (line.answered()) end()
      else near.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const hangUp = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    port,
    hangUp,
    async close() {
      hangUp()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The one address that clients know of a server, whichever machine has the part just now. */
export async function switchProxy(first: number) {
  let port = first
  const line: Line = { requested: () => {}, answered: () => false }
  const proxy = await lineProxy(
    () => ({ port }),
    () => line,
  )
  return {
    port: proxy.port,
    close: proxy.close,
    /** From now on connections lead there; those that are open break. */
    leadTo(next: number): void {
      port = next
      proxy.hangUp()
    },
  }
}

export interface LosingProxy {
  readonly port: number
  /**
   * The next answer to what is watched is thrown away, and with it the connection it came on; to what holds `text`, if
   * one is given.
   */
  loseNextAnswer(text?: string): void
  /** How many requests were watched since then. */
  readonly requests: number
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
  target: number | Target,
  loss: { armed: boolean } = { armed: false },
  watched = '',
): Promise<LosingProxy> {
  let text = watched
  let requests = 0
  let sent = ''
  const newLine = (): Line => {
    let asked = false
    return {
      requested(data) {
        if (data.includes(text)) requests += 1
        // What was asked before is not meant.
        asked ||= loss.armed && data.includes(text)
        sent += data.toString('latin1')
      },
      answered() {
        const isLost = loss.armed && asked
        if (isLost) loss.armed = false
        return isLost
      },
    }
  }
  const { port, close } = await lineProxy(
    () => (typeof target === 'number' ? { port: target } : target),
    newLine,
  )
  return {
    port,
    close,
    loseNextAnswer(next = watched) {
      text = next
      requests = 0
      loss.armed = true
    },
    get requests() {
      return requests
    },
    get sent() {
      return sent
    },
  }
}
