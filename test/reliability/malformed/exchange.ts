import { connect } from 'node:net'

/** As long as an answer may take on a slow machine; what takes longer hangs. */
const patienceMs = 30_000

export interface Answered {
  /** The statuses of the replies, in order. */
  readonly statuses: readonly number[]
  /** Whether the last of them says that the server takes no more from this connection. */
  readonly isClosing: boolean
}

/**
 * What a server answers to these bytes. Resolves once it closed the connection, and rejects where it does not. `ends`:
 * nothing comes after the bytes, which the server is told.
 */
export function exchange(port: number, bytes: Uint8Array, ends: boolean): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.setTimeout(patienceMs, () => socket.destroy(new Error('a connection hangs')))
    socket.on('data', (chunk) => chunks.push(chunk))
    // A server may close before it has read everything.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('end', () => socket.end())
    socket.on('close', () => resolve(answeredIn(Buffer.concat(chunks).toString('latin1'))))
    if (ends) socket.end(bytes)
    else socket.write(bytes)
  })
}

/** No body of a reply has such a line. */
function answeredIn(replies: string): Answered {
  const heads = [...replies.matchAll(/HTTP\/1\.1 (\d{3}) [\s\S]*?\r\n\r\n/g)]
  return {
    statuses: heads.map(([, status]) => Number(status)),
    isClosing: /^connection: close\r$/im.test(heads.at(-1)?.[0] ?? ''),
  }
}
