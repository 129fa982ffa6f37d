import type { Collection, Doc } from '../ports/store.js'
import type { Surface } from '../ports/surface.js'
import type { SurfaceSpec } from './surface-spec.js'

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
