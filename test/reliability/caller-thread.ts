// Runs in a thread of its own, which `timingCaller` starts: what the server does after a reply delays no caller.
import { parentPort } from 'node:worker_threads'
import type { TimedReply, TimedRequest } from './timing-caller.js'

async function timed({ url, headers, body }: TimedRequest): Promise<TimedReply> {
  const from = performance.now()
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.text()
  return { ms: performance.now() - from, status: response.status }
}

parentPort?.on('message', async (request: TimedRequest) => {
  parentPort?.postMessage(await timed(request))
})
