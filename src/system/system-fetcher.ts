import type { Fetcher } from '../ports/host.js'
import { createPublicRequest } from './public-request.js'
import { readAtMost } from './read-at-most.js'

const publicRequest = createPublicRequest()

/** The runtime's own HTTP, bounded in time and size, following no redirect. */
export const systemFetcher: Fetcher = {
  async fetch(request) {
    if (request.publicOnly) return publicRequest(request)
    const { url, method, headers, body, timeoutMs, maxBytes } = request
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    })
    return {
      status: response.status,
      body: response.body === null ? '' : await readAtMost(response.body, maxBytes),
    }
  },
}
