import type { BackgroundTasks } from '../../concurrency/background-tasks.js'
import { uuidv7 } from '../../crypto/secrets.js'
import { loadPart } from '../../errors/index.js'
import type { AuditRecords } from '../../model/event-records.js'
import type { AuthEvent, Emit } from '../../ports/events.js'
import type { Clock, Random } from '../../ports/host.js'
import { storedText } from '../context/stored-text.js'
import type { AuditPage, AuditPageRequest, AuditParty } from './audit-page.js'
import { repeatedRecords } from './repeated-records.js'
import { type AuditEntry, toAuditRecord } from './to-audit-record.js'

/**
 * The audit records of one surface, for the host's code: no permission is checked. Throws `AuthError`
 * `invalid_request` for an id that is no text and a page out of bounds, and `service_unavailable` when the store fails.
 */
export interface AuditLog {
  /** The records about an account, whether its owner acted or another user. */
  ofTarget(userId: string, page?: AuditPageRequest): Promise<AuditPage>
  /** The records of acts by this actor on this surface. */
  ofActor(actorId: string, page?: AuditPageRequest): Promise<AuditPage>
}

export interface Audit {
  readonly log: AuditLog
  /** Writes the record of an event, if it leaves one, beside the caller. Never throws. */
  record(event: AuthEvent): void
}

interface Deps {
  readonly records: AuditRecords
  readonly clock: Clock
  readonly random: Random
  readonly background: BackgroundTasks
  readonly retentionMs: number
  /** For records that could not be written; it must leave none itself. */
  readonly emit: Emit
}

export function createAuditLog(deps: Deps): Audit {
  const { records } = deps
  const isRepeated = repeatedRecords(deps)

  async function write(entry: AuditEntry): Promise<void> {
    const id = uuidv7(entry.at, deps.random)
    const stored = await records.insert({ id, ...entry, expiresAt: entry.at + deps.retentionMs })
    if (!stored) throw new Error('the id of an audit record was taken')
  }

  async function page(by: AuditParty, id: string, request: AuditPageRequest): Promise<AuditPage> {
    const { auditPage } = await loadPart('audit records in code', () => import('./audit-page.js'))
    return auditPage(records, { by, id }, request)
  }

  return {
    log: {
      ofTarget: async (userId, request = {}) =>
        page('targetId', storedText('userId', userId), request),
      ofActor: async (actorId, request = {}) =>
        page('actorId', storedText('actorId', actorId), request),
    },

    record(event) {
      const entry = toAuditRecord(event)
      if (entry === null || isRepeated(event)) return
      deps.background.run('writing an audit record', async () => {
        try {
          await write(entry)
        } catch (error) {
          deps.emit('audit.failed', entry, { action: entry.action })
          throw error
        }
      })
    },
  }
}
