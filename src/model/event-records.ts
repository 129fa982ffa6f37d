import type { Collection, Doc, SurfaceSpec } from '../ports/store.js'
import type { Surface } from '../ports/surface.js'

/** A stored security event of a surface. It is written after the event and never changed. */
export interface AuditRecord extends Doc {
  /** Epoch milliseconds. */
  readonly at: number
  readonly surface: Surface
  /** The type of the event, such as `password.changed`. */
  readonly action: string
  readonly outcome: 'success' | 'failure'
  /** The user who acted; null when unknown, as after a failed login, and for the library itself. */
  readonly actorId: string | null
  /** The user whose account was concerned; null without one, or when it does not exist. */
  readonly targetId: string | null
  readonly sessionId: string | null
  readonly ip: string | null
  readonly userAgent: string | null
  /** The other members of the event. They hold no secrets and no e-mail addresses. */
  readonly details: Readonly<Record<string, unknown>>
  /** Epoch milliseconds at which it may be swept. */
  readonly expiresAt: number
}

/** The only calls on audit records: no call updates one or removes it early. */
export type AuditRecords = Pick<Collection<AuditRecord>, 'insert' | 'find' | 'sweep'>

export const auditRecordsSpec: SurfaceSpec<AuditRecord> = {
  fields: {
    at: { kind: 'time' },
    surface: { kind: 'text' },
    action: { kind: 'text' },
    outcome: { kind: 'text' },
    actorId: { kind: 'text', nullable: true },
    targetId: { kind: 'text', nullable: true },
    sessionId: { kind: 'text', nullable: true },
    ip: { kind: 'text', nullable: true },
    userAgent: { kind: 'text', nullable: true },
    details: { kind: 'json' },
  },
  indexes: [{ on: ['targetId'] }, { on: ['actorId'] }],
  expires: 'fixed',
}

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
