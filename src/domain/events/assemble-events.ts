import type { AuthEvent, Emit } from '../../ports/events.js'
import type { Fetcher } from '../../ports/host.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { type AuditLog, createAuditLog } from './audit-log.js'
import { createEmit } from './emit.js'
import { createWebhooks, type Webhooks } from './webhooks.js'

export interface EventServices {
  readonly audit: AuditLog
  readonly emit: Emit
  readonly webhooks: Webhooks
}

interface Collaborators {
  readonly fetcher: Fetcher
  readonly publish: (event: AuthEvent) => void
  /** How long audit records are kept. */
  readonly retentionMs: number
}

export function assembleEvents(
  context: Omit<SurfaceContext, 'emit'>,
  { fetcher, publish, retentionMs }: Collaborators,
): EventServices {
  const { auditRecords: records, webhookDeliveries: deliveries } = context.collections
  // For the recorders themselves: what they could not record is published, and not recorded again.
  const emitUnrecorded = createEmit({ ...context, publish })
  const audit = createAuditLog({ ...context, records, retentionMs, emit: emitUnrecorded })
  const webhooks = createWebhooks({ ...context, deliveries, fetcher, emit: emitUnrecorded })
  const record = (event: AuthEvent): void => {
    publish(event)
    audit.record(event)
    webhooks.record(event)
  }
  return { audit: audit.log, emit: createEmit({ ...context, publish: record }), webhooks }
}
