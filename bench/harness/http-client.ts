import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface HttpReply {
  readonly status: number
  /** The status line and the header lines. */
  readonly head: string
  readonly body: Buffer
}

export interface Slice {
  readonly requests: number
  /** How many requests are under way at a time, each on a connection that stays open. */
  readonly connections: number
  /** The bytes of a request; see `requestBytes`. */
  next(connection: number, request: number): Buffer
  /** Called for each reply. What it throws ends the slice. */
  seen?(reply: HttpReply, connection: number, request: number): void
  /** Asked before each request; the slice ends early when it says no. */
  goesOn?(): boolean
}

export interface Paced {
  readonly requests: number
  /** Requests a second. They are sent when they are due, however many are still unanswered. */
  readonly rate: number
  next(request: number): Buffer
  seen?(reply: HttpReply, request: number): void
}

export interface SliceResult {
  readonly seconds: number
  /** From the write of each request to the last byte of its reply, in milliseconds. */
  readonly milliseconds: readonly number[]
}

export interface HttpClient {
  /** Sends the next request on a connection as soon as the last one's reply is there. */
  slice(slice: Slice): Promise<SliceResult>
  /**
   * Sends on a schedule. The times of the replies, in the order of the requests. Each counts from when
   * its request was due, so a stall shows.
   */
  paced(paced: Paced): Promise<readonly number[]>
  close(): void
}

interface Connection {
  readonly socket: Socket
  ask(request: Buffer): Promise<HttpReply>
}

/** Raw sockets: an HTTP library would take most of the time that is to be measured. */
export function httpClient(port: number): HttpClient {
  const open: Connection[] = []
  const connection = (index: number): Connection => {
    const known = open[index]
    if (known && !known.socket.destroyed) return known
    const made = connectionTo(port)
    open[index] = made
    return made
  }
  return {
    async slice({ requests, connections, next, seen, goesOn }) {
      const milliseconds: number[] = []
      const lanes = Array.from({ length: connections }, (_, index) => connection(index))
      let sent = 0
      const started = performance.now()
      await Promise.all(
        lanes.map(async (lane, index) => {
          while (sent < requests && goesOn?.() !== false) {
            const request = sent
            sent += 1
            const from = performance.now()
            const reply = await lane.ask(next(index, request))
            milliseconds.push(performance.now() - from)
            seen?.(reply, index, request)
          }
        }),
      )
      return { seconds: (performance.now() - started) / 1000, milliseconds }
    },
    async paced({ requests, rate, next, seen }) {
      const free = open.map((_, index) => index)
      const milliseconds = new Array<number>(requests).fill(Number.NaN)
      const asked: Promise<void>[] = []
      const started = performance.now()
      for (let request = 0; request < requests; request += 1) {
        const due = started + (request * 1000) / rate
        const early = due - performance.now()
        if (early > 0) await wait(early)
        const index = free.pop() ?? open.length
        asked.push(
          connection(index)
            .ask(next(request))
            .then((reply) => {
              milliseconds[request] = performance.now() - due
              free.push(index)
              seen?.(reply, request)
            }),
        )
      }
      await Promise.all(asked)
      return milliseconds
    },
    close() {
      for (const { socket } of open) socket.destroy()
    },
  }
}

/** A request as it goes over the wire. `body` is sent as JSON. */
export function requestBytes(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: unknown,
): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body)
  const all: Record<string, string> = { host: '127.0.0.1', ...headers }
  if (body !== undefined) {
    all['content-type'] ??= 'application/json'
    all['content-length'] = String(Buffer.byteLength(text))
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`)
}

function connectionTo(port: number): Connection {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let received: Buffer = Buffer.alloc(0)
  let waiting: { resolve(reply: HttpReply): void; reject(error: Error): void } | null = null
  const fail = (error: Error): void => {
    waiting?.reject(error)
    waiting = null
  }
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const found = firstReply(received)
    if (found === null) return
    received = received.subarray(found.length)
    const asked = waiting
    waiting = null
    asked?.resolve(found.reply)
  })
  return {
    socket,
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        socket.write(request)
      }),
  }
}

/** The reply at the start of the bytes, and its length; null while some of it is still to come. */
function firstReply(bytes: Buffer): { readonly reply: HttpReply; readonly length: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const head = bytes.toString('latin1', 0, headEnd)
  const from = headEnd + 4
  const length = bodyEnd(bytes, head, from)
  if (length === null) return null
  return {
    reply: { status: Number(head.slice(9, 12)), head, body: bytes.subarray(from, length) },
    length,
  }
}

function bodyEnd(bytes: Buffer, head: string, from: number): number | null {
  const stated = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (stated) {
    const end = from + Number(stated[1])
    return bytes.length < end ? null : end
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return from
  // The last chunk is an empty one: at the very start, or after the end of another.
  if (bytes.indexOf('0\r\n\r\n', from) === from) return from + 5
  const last = bytes.indexOf('\r\n0\r\n\r\n', from)
  return last < 0 ? null : last + 7
}
