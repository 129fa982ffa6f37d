import { type BackgroundTasks, createWakeableTimer } from '../../concurrency/background-tasks.js'
import { withTimeout } from '../../concurrency/promises.js'
import { sha256, standardWebhookSignature, uuidv7, webhookSignature } from '../../crypto/secrets.js'
import { mostAttempts, waitAfterAttempt, wantsEvent } from '../../engine/webhook-delivery-rules.js'
import { describeError } from '../../errors/index.js'
import type { WebhookDelivery } from '../../model/event-records.js'
import type { AuthEvent, Emit } from '../../ports/events.js'
import type { Clock, Fetcher, Logger, Random } from '../../ports/host.js'
import type { Collection } from '../../ports/store.js'
import type { SecurityWebhook } from '../../settings/anti-abuse-settings.js'
import type { AuthSettings } from '../../settings/settings.js'

/**
 * Sends security events to the endpoints of `securityWebhooks`: at least once each, in no
 * particular order. What is on its way is stored, so that another process goes on with it.
 */
export interface Webhooks {
  /** Stores one delivery for every webhook that wants the event and attempts it, beside the caller. */
  record(event: AuthEvent): void
  /**
   * Attempts some of what has fallen due: `more` may be due already, something may come `later`, or
   * there are no webhooks and nothing is stored (`idle`).
   */
  deliverDue(): Promise<'more' | 'later' | 'idle'>
}

interface Deps {
  readonly deliveries: Collection<WebhookDelivery>
  readonly settings: () => Promise<Pick<AuthSettings, 'securityWebhooks'>>
  readonly fetcher: Fetcher
  readonly clock: Clock
  readonly random: Random
  readonly background: BackgroundTasks
  /** For deliveries that were given up; it must lead to none itself. */
  readonly emit: Emit
  readonly logger: Logger
}

const timeoutMs = 10_000
/** The fetcher's own limit comes first. */
const graceMs = 5_000
const maxReplyBytes = 64 * 1024
/** How many deliveries are attempted side by side: among all that are due, and among one webhook's new ones. */
const atOnce = 20
/** How long the last attempt may take before another process may clear it away. */
const lastAttemptMs = 60_000

export function createWebhooks(deps: Deps): Webhooks {
  const { deliveries, clock } = deps
  /** First attempts under way, by slug. */
  const underway = new Map<string, number>()

  async function record(event: AuthEvent): Promise<void> {
    // Two tabs of one browser: nothing to be told of.
    if (event.type === 'refresh.reissued' && !event.otherClient) return
    const { securityWebhooks } = await deps.settings()
    const wanting = securityWebhooks.filter(({ events }) => wantsEvent(events, event.type))
    await Promise.all(wanting.map((webhook) => store(webhook, event)))
  }

  async function store({ slug, url }: SecurityWebhook, event: AuthEvent): Promise<void> {
    const now = clock.now()
    const id = uuidv7(now, deps.random)
    const { at, ...facts } = event
    const delivery: WebhookDelivery = {
      id,
      webhook: slug,
      addressHash: sha256(url),
      event: event.type,
      body: JSON.stringify({ id, ...facts, at: new Date(at).toISOString() }),
      attempts: 0,
      expiresAt: now,
    }
    await deliveries.insert(delivery)
    // The others are due already: the next look attempts them, a few at a time.
    const others = underway.get(slug) ?? 0
    if (others >= atOnce) return
    underway.set(slug, others + 1)
    try {
      await attempt(delivery)
    } finally {
      const left = (underway.get(slug) ?? 1) - 1
      if (left > 0) underway.set(slug, left)
      else underway.delete(slug)
    }
  }

  /** If several processes see a delivery due, one attempts it. */
  async function attempt(seen: WebhookDelivery): Promise<void> {
    const { id, attempts } = seen
    // Before the claim: while the address cannot be known, no attempt is used up.
    const { securityWebhooks } = await deps.settings()
    const webhook = securityWebhooks.find(
      ({ slug, url }) => slug === seen.webhook && sha256(url) === seen.addressHash,
    )
    const number = attempts + 1
    const wait = waitAfterAttempt(number)
    const next = { attempts: number, expiresAt: clock.now() + (wait ?? lastAttemptMs) }
    const claimed = await deliveries.update(id, { attempts }, next)
    if (claimed === null) return

    if (webhook === undefined) {
      // Removed or moved since: the event goes nowhere.
      await deliveries.take(id)
      return
    }
    // Beyond the last attempt where that one was cut short.
    const arrived = number <= mostAttempts && (await send(webhook, seen))
    if (!arrived && wait !== null) return
    await deliveries.take(id)
    if (!arrived) deps.emit('webhook.failed', null, { webhook: seen.webhook, event: seen.event })
  }

  async function send(to: SecurityWebhook, delivery: WebhookDelivery): Promise<boolean> {
    const { id, webhook, event, body } = delivery
    const timestamp = Math.floor(clock.now() / 1000)
    try {
      // Throws where the secret does not decrypt: an attempt like any other that failed.
      const secrets = [to.signingSecret, previousOf(to)]
      const answer = deps.fetcher.fetch({
        url: to.url,
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'user-agent': 'postern',
          'x-signature': webhookSignature(secrets, body),
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': standardWebhookSignature(secrets, { id, timestamp, body }),
        },
        body,
        timeoutMs,
        maxBytes: maxReplyBytes,
        publicOnly: true,
      })
      // A fetcher that never answers must not hold up the deliveries to other webhooks.
      const { status } = await withTimeout(answer, timeoutMs + graceMs, clock)
      if (status >= 200 && status < 300) return true
      deps.logger.warn('a webhook refused an event', { webhook, event, status })
    } catch (error) {
      deps.logger.warn('a webhook was not reached', { webhook, event, ...describeError(error) })
    }
    return false
  }

  return {
    record(event) {
      if (!wantsEvent('all', event.type)) return
      deps.background.run('a security webhook', () => record(event))
    },
    async deliverDue() {
      const due = await deliveries.due(clock.now(), atOnce)
      // One that cannot be attempted now, because the store fails, does not keep back the others.
      const outcomes = await Promise.allSettled(due.map(attempt))
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed) throw failed.reason
      const { securityWebhooks } = await deps.settings()
      if (due.length === atOnce) return 'more'
      return due.length === 0 && securityWebhooks.length === 0 ? 'idle' : 'later'
    },
  }
}

/** Empty where it does not decrypt, as the log says: a receiver that takes the new one must not go without. */
function previousOf(webhook: SecurityWebhook): string {
  try {
    return webhook.previousSigningSecret
  } catch {
    return ''
  }
}

export interface WebhookRetries {
  /** Stops, after the attempts under way. */
  close(): Promise<void>
}

interface RetryDeps {
  readonly webhooks: readonly Pick<Webhooks, 'deliverDue'>[]
  readonly clock: Clock
  readonly logger: Logger
}

/** How often deliveries that wait are looked at, and how often while there are no webhooks. */
const retryMs = 10_000
const idleMs = 5 * 60_000

/** Goes on, in the background, with deliveries that failed or were left behind by a process. */
export function startWebhookRetries({ webhooks, clock, logger }: RetryDeps): WebhookRetries {
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
