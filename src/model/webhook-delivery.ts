import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/** One event on its way to one webhook. It is taken away when it has arrived or is given up. */
export interface WebhookDelivery extends Doc {
  /** The webhook's slug. The secret is looked up at each attempt. */
  readonly webhook: string
  /**
   * The SHA-256 of the webhook's address when the event happened. Another webhook may come to have the
   * slug, and its owner gets nothing that was meant for this one.
   */
  readonly addressHash: string
  /** The event's type. */
  readonly event: string
  /** What is sent and signed, the same bytes at every attempt. */
  readonly body: string
  /** Attempts begun so far. */
  readonly attempts: number
  /** Epoch milliseconds of the next attempt. */
  readonly expiresAt: number
}

export const webhookDeliveriesSpec: SurfaceSpec<WebhookDelivery> = {
  fields: {
    webhook: { kind: 'text' },
    addressHash: { kind: 'text' },
    event: { kind: 'text' },
    body: { kind: 'text' },
    attempts: { kind: 'integer' },
  },
  indexes: [],
  expires: 'due',
}
