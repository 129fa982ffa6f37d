import { type Agent, type IncomingMessage, request } from 'node:http'
import type { Reply } from './http-client.js'
import { watchReply } from './watch-replies.js'

export interface RawRequest {
  /** Several values make several header lines. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** One piece is sent with its length; a list is sent chunked, without one. */
  readonly body?: string | Uint8Array | readonly Uint8Array[]
  /** Without one, every request has a connection of its own. */
  readonly agent?: Agent
}

export type RawSend = (method: string, path: string, options?: RawRequest) => Promise<Reply>

/** Requests as `fetch` would not make them: paths, header lines and framing exactly as given. */
export function rawClient(url: string): RawSend {
  const { hostname, port } = new URL(url)
  return async (method, path, { headers = {}, body, agent } = {}) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const pieces = Array.isArray(body) ? body : null
      const framing = pieces === null ? {} : { 'transfer-encoding': 'chunked' }
      const sent = request({
        hostname,
        port,
        method,
        path,
        agent: agent ?? false,
        headers: { ...headers, ...framing },
      })
      // After an early reply the rest of the body may find the connection closed.
      sent.once('error', reject)
      sent.once('response', resolve)
      for (const piece of pieces ?? []) sent.write(piece)
      if (pieces === null) sent.end(body)
      else sent.end()
    })
    const reply = await replyOf(response)
    watchReply(method, path, reply)
    return reply
  }
}

async function replyOf(response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const headers = new Headers()
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const json = (): Record<string, unknown> => JSON.parse(text)
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json') ?? false
  return {
    status: response.statusCode ?? 0,
    headers,
    setCookies: headers.getSetCookie(),
    text,
    json,
    code: isProblem && text !== '' ? json()['code'] : undefined,
  }
}
