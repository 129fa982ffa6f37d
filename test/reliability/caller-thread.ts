// Runs in a thread of its own, which `timingCaller` starts: what the server does after a reply delays no caller.
import { parentPort } from 'node:worker_threads'
import type { TimedRequest } from './timing-caller.js'

/** The milliseconds of one request, until its reply was read. */
async function timeOf({ url, headers, body }: TimedRequest): Promise<number> {
  const from = performance.now()
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.text()
  return performance.now() - from
}

parentPort?.on('message', async (request: TimedRequest) => {
  parentPort?.postMessage(await timeOf(request))
})
