import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { Fetcher, OutboundRequest } from '../../../src/index.js'

export interface ReceivedEvent {
  readonly url: string
  readonly body: Readonly<Record<string, unknown>>
}

export interface WebhookEndpoints extends Fetcher {
  /** What arrived with a good signature, acknowledged or not. */
  readonly received: readonly ReceivedEvent[]
  /** From now on answers with this status, or does not answer. */
  answer(status: number | 'refused'): void
}

/** The receiving ends of webhooks, by address and signing secret; refuses any other request. */
export function webhookEndpoints(secrets: Readonly<Record<string, string>>): WebhookEndpoints {
  const received: ReceivedEvent[] = []
  let answers: number | 'refused' = 204

  function accept({ url, method, headers, body = '', ...limits }: OutboundRequest): void {
    const secret = secrets[url]
    assert.ok(secret !== undefined, `no webhook is at ${url}`)
    assert.deepEqual([method, headers['content-type']], ['POST', 'application/json; charset=utf-8'])
    const signature = createHmac('sha256', secret).update(body).digest('hex')
    assert.equal(headers['x-signature'], `sha256=${signature}`)
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const standard = createHmac('sha256', secret).update(signed).digest('base64')
    assert.equal(headers['webhook-signature'], `v1,${standard}`)
    assert.equal(headers['webhook-id'], JSON.parse(body).id)
    assert.deepEqual(limits, { timeoutMs: 10_000, maxBytes: 65_536, publicOnly: true })
    received.push({ url, body: JSON.parse(body) })
  }

  return {
    received,
    answer(status) {
      answers = status
    },
    async fetch(request) {
      accept(request)
      if (answers === 'refused') throw new Error('connect ECONNREFUSED')
      return { status: answers, body: '' }
    },
  }
}
