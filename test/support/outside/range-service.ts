import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Fetcher, OutboundRequest } from '../../../src/index.js'

export interface RangeService extends Fetcher {
  /** The requests so far, as they came. */
  readonly requests: readonly OutboundRequest[]
  /** From now on the service fails in this way; null makes it well again. */
  break(how: 'refuses' | 'errors' | 'garbage' | null): void
}

/** The breached-password service at the other end of the wire; refuses any other request. */
export function rangeService(breached: readonly string[]): RangeService {
  const requests: OutboundRequest[] = []
  let broken: 'refuses' | 'errors' | 'garbage' | null = null
  const digests = breached.map((password) =>
    createHash('sha1').update(password).digest('hex').toUpperCase(),
  )

  function listOf(prefix: string): string {
    const listed = digests.filter((digest) => digest.startsWith(prefix))
    const padding = [`${'0'.repeat(34)}1:0`, `${'F'.repeat(35)}:12`]
    return [...listed.map((digest) => `${digest.slice(5)}:42`), ...padding].sort().join('\r\n')
  }

  return {
    requests,
    break(how) {
      broken = how
    },
    async fetch(request) {
      requests.push(request)
      assert.equal(request.method, 'GET')
      assert.equal(request.body, undefined)
      assert.equal(request.timeoutMs, 1500)
      assert.equal(request.headers['Add-Padding'], 'true')
      const prefix = /^https:\/\/api\.pwnedpasswords\.com\/range\/([0-9A-F]{5})$/.exec(request.url)
      assert.ok(prefix?.[1] !== undefined, `not a range request: ${request.url}`)
      if (broken === 'refuses') throw new Error('connect ECONNREFUSED')
      if (broken === 'errors') return { status: 503, body: listOf(prefix[1]) }
      if (broken === 'garbage') return { status: 200, body: '<html>try later</html>' }
      return { status: 200, body: listOf(prefix[1]) }
    },
  }
}
