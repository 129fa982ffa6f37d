import type { Collection, CollectionSpec, Doc } from '../ports/store.js'
import type { Surface } from '../ports/surface.js'

/** One security-relevant act on a surface, written after it and never changed. */
export interface AuditRecord extends Doc {
  /** Epoch milliseconds. */
  readonly at: number
  readonly surface: Surface
  /** The type of the event it was made of, such as `password.changed`. */
  readonly action: string
  readonly outcome: 'success' | 'failure'
  /** Who did it; null when nobody is known to have: a failed login, the library itself. */
  readonly actorId: string | null
  /** On whose account; null when it was none, or one that does not exist. */
  readonly targetId: string | null
  readonly sessionId: string | null
  readonly ip: string | null
  readonly userAgent: string | null
  /** The rest of what the event says. No secrets and no e-mail addresses. */
  readonly details: Readonly<Record<string, unknown>>
  /** Epoch milliseconds from which it may be swept. */
  readonly expiresAt: number
}

/** All that is ever done with audit records: nothing updates or takes one away before its time. */
export type AuditRecords = Pick<Collection<AuditRecord>, 'insert' | 'find' | 'sweep'>

export function auditRecordsOf(surface: Surface): CollectionSpec<AuditRecord> {
  return {
    name: `${surface}_audit_records`,
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
}
