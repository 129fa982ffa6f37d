import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export interface TimedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface TimedReply {
  /** Milliseconds until the reply was read. */
  readonly ms: number
  readonly status: number
}

export interface TimingCaller {
  /** Sends one POST request. One at a time. */
  send(request: TimedRequest): Promise<TimedReply>
  close(): Promise<unknown>
}

/**
 * A caller in a thread of its own. One that shared the server's event loop would see its reply only after what the
 * server does next, such as the audit record of a known account.
 */
export function timingCaller(): TimingCaller {
  const thread = new Worker(new URL('./caller-thread.ts', import.meta.url))
  return {
    async send(request) {
      const answered = once(thread, 'message')
      thread.postMessage(request)
      const [reply]: TimedReply[] = await answered
      if (reply === undefined) throw new Error('the caller did not say how long it waited')
      return reply
    },
    close: () => thread.terminate(),
  }
}
