import type { Fetcher } from '../ports/fetcher.js'

/** The runtime's `fetch`, bounded in time and size, following no redirect. */
export const systemFetcher: Fetcher = {
  async fetch({ url, method, headers, body, timeoutMs, maxBytes }) {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    })
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength
      if (size > maxBytes) throw new Error(`the reply is larger than ${maxBytes} bytes`)
      chunks.push(chunk)
    }
    return { status: response.status, body: Buffer.concat(chunks).toString('utf8') }
  },
}
