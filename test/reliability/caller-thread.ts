// Runs in a thread of its own, which `timingCaller` starts: what the server does after a reply delays no caller.
import { parentPort } from 'node:worker_threads'
import type { TimedReply, TimedRequest } from './timing-caller.js'

async function answer({ url, headers, body }: TimedRequest): Promise<void> {
  const from = performance.now()
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.text()
  const reply: TimedReply = { ms: performance.now() - from, status: response.status }
  parentPort?.postMessage(reply)
}

// What `answer` rejects with ends the thread, and with it the test.
parentPort?.on('message', (request: TimedRequest) => void answer(request))
