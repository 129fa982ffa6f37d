import { connect, type OutgoingHttpHeaders } from 'node:http2'
import { text } from 'node:stream/consumers'

export interface Http2Reply {
  readonly status: number
  readonly text: string
}

/** Requests over HTTP/2 without TLS, with any pseudo-header; pieces of a body are sent without a length. */
export function http2Client(url: string) {
  return async (
    headers: OutgoingHttpHeaders,
    pieces: readonly Uint8Array[] = [],
  ): Promise<Http2Reply> => {
    const session = connect(url)
    try {
      const stream = session.request(headers, { endStream: pieces.length === 0 })
      const status = new Promise<number>((resolve, reject) => {
        stream.once('response', (reply) => resolve(Number(reply[':status'])))
        stream.once('error', reject)
      })
      for (const piece of pieces) stream.write(piece)
      if (pieces.length > 0) stream.end()
      return { status: await status, text: await text(stream) }
    } finally {
      session.close()
    }
  }
}
