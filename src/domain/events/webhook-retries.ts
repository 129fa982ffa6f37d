import { createWakeableTimer } from '../../concurrency/background-tasks.js'
import { describeError } from '../../errors/index.js'
import type { Clock, Logger } from '../../ports/host.js'
import type { Webhooks } from './webhooks.js'

export interface WebhookRetries {
  /** Stops, after the attempts under way. */
  close(): Promise<void>
}

interface Deps {
  readonly webhooks: readonly Pick<Webhooks, 'deliverDue'>[]
  readonly clock: Clock
  readonly logger: Logger
}

/** How often deliveries that wait are looked at, and how often while there are no webhooks. */
const retryMs = 10_000
const idleMs = 5 * 60_000

/** Goes on, in the background, with deliveries that failed or were left behind by a process. */
export function startWebhookRetries({ webhooks, clock, logger }: Deps): WebhookRetries {
  const pause = createWakeableTimer(clock)
  let closing = false

  async function look(): Promise<number> {
    try {
      const states = await Promise.all(webhooks.map((each) => each.deliverDue()))
      if (states.includes('more')) return 0
      return states.includes('later') ? retryMs : idleMs
    } catch (error) {
      logger.warn('webhooks could not be looked at; trying again', describeError(error))
      return retryMs
    }
  }

  async function run(): Promise<void> {
    let wait = retryMs
    while (!closing) {
      await pause.wait(wait)
      if (!closing) wait = await look()
    }
  }

  const running = run()
  return {
    close() {
      closing = true
      pause.wake()
      return running
    },
  }
}
