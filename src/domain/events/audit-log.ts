import type { BackgroundTasks } from '../../concurrency/background-tasks.js'
import { sha256, uuidv7 } from '../../crypto/secrets.js'
import { networkOf } from '../../engine/addresses.js'
import { fewPerWindow } from '../../engine/limits.js'
import { describeError } from '../../errors/index.js'
import type { AuditRecord, AuditRecords } from '../../model/event-records.js'
import type { AuthEvent, Emit } from '../../ports/events.js'
import type { Clock, Logger, Random } from '../../ports/host.js'
import type { Surface } from '../../ports/surface.js'
import type { Tracing } from '../../ports/telemetry.js'
import { fullPage } from '../../stores/pages.js'
import { hostPage, storedText } from '../context/actor.js'

interface PublisherDeps {
  readonly onEvent: ((event: AuthEvent) => unknown) | undefined
  readonly tracing: Tracing
  readonly logger: Logger
}

/**
 * Counts an event and publishes it to the host. Whatever the host's function does, throw, reject or
 * write to what it was given, goes no further than a log line.
 */
export function createEventPublisher({
  onEvent,
  tracing,
  logger,
}: PublisherDeps): (event: AuthEvent) => void {
  return (event) => {
    tracing.event(event.surface, event.type)
    if (onEvent === undefined) return
    // The log gets only the type of the event: the account and the address are not for it.
    const report = (error: unknown): void => {
      logger.error('onEvent failed', { type: event.type, ...describeError(error) })
    }
    try {
      // A copy: records, and sometimes a stored document, share members with the original.
      Promise.resolve(onEvent(structuredClone(event))).catch(report)
    } catch (error) {
      report(error)
    }
  }
}

interface EmitDeps {
  readonly surface: Surface
  readonly clock: Clock
  readonly publish: (event: AuthEvent) => void
}

/** Binds `emit` to a surface: it fills in the header that all events have. */
export function createEmit({ surface, clock, publish }: EmitDeps): Emit {
  return (type, source, facts) => {
    const { ip, userAgent } = source ?? { ip: null, userAgent: null }
    const header = { type, surface, at: facts.at ?? clock.now(), ip, userAgent }
    // Twice: first in order, and last in effect, since an object may have more members than its type.
    // The cast: the header and the facts of a type make the event of this type.
    publish({ ...header, ...facts, ...header } as AuthEvent)
  }
}

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

/** A page of audit records. */
export interface AuditPage {
  /** Newest first. Records of the same millisecond have no defined order. */
  readonly records: readonly AuditRecord[]
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The page of audit records to read. */
export interface AuditPageRequest {
  /** 1 to 200. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string
}

/** Whose records: those of the account concerned, or of the one that acted. */
export type AuditParty = 'targetId' | 'actorId'

/** A page of the records of one account. Throws `invalid_request` for a page out of bounds. */
async function auditPage(
  records: Pick<AuditRecords, 'find'>,
  { by, id }: { readonly by: AuditParty; readonly id: string },
  request: AuditPageRequest,
): Promise<AuditPage> {
  const page = hostPage(request)
  const equal = by === 'targetId' ? { targetId: id } : { actorId: id }
  const { shown, next } = page.cut(
    await fullPage(records, equal, { ...page.read, newestFirst: true }),
  )
  return { records: shown, next }
}

/** An audit record before it has an id and a date to be swept on. */
export type AuditEntry = Omit<AuditRecord, 'id' | 'expiresAt'>

type Facts = Pick<AuditEntry, 'outcome' | 'actorId' | 'targetId' | 'sessionId' | 'details'>

/**
 * A refusal that a stranger can cause without limit leaves an event and no record: records are kept
 * for a year, and a stranger must not fill the database. The refusals listed here come from a caller
 * who is signed in, or are recorded once an hour for each network (see `repeatedRecords`).
 */
const recordedRefusals: readonly string[] = [
  'permission_denied',
  'human_principal_required',
  'invalid_token',
  'token_expired',
]

/** What is recorded of an event; null for one that leaves no record. */
export function toAuditRecord(event: AuthEvent): AuditEntry | null {
  const facts = factsOf(event)
  if (facts === null) return null
  const { surface, at, ip, userAgent, type: action } = event
  return { at, surface, action, ip, userAgent, ...facts }
}

type Type = AuthEvent['type']

/**
 * What is recorded of each event. Every row names the members that are kept, so that one added to an
 * event later is not kept by accident.
 */
const recorded: {
  readonly [T in Type]: (event: AuthEvent & { readonly type: T }) => Facts | null
} = {
  'account.registered': (event) => own(event.userId, {}),
  'email.verified': (event) => own(event.userId, {}),
  'account.ownerProved': (event) => own(event.userId, { by: event.by }),
  'email.changeRequested': (event) => own(event.userId, {}),
  'email.changed': (event) => own(event.userId, {}),
  'account.registrationRepeated': () => unproven(null, {}),
  // No account and no proof: what comes of it is recorded.
  'account.registrationRequested': () => null,
  'account.created': (event) => act(event.actorId, event.targetId, {}),
  'account.deleted': (event) => act(event.actorId, event.targetId, {}),
  'account.createFailed': (event) => failed(act(event.actorId, null, { reason: event.reason })),
  'account.imported': ({ actorId, created, skipped, conflicts, refused }) =>
    act(actorId, null, { created, skipped, conflicts, refused }),
  'account.importFailed': (event) => failed(act(event.actorId, null, { reason: event.reason })),
  'account.updated': ({ actorId, targetId, fields, before, after }) =>
    act(actorId, targetId, { fields, before, after }),
  'account.updateFailed': (event) =>
    failed(act(event.actorId, event.targetId, { reason: event.reason })),
  'account.deleteFailed': (event) =>
    failed(act(event.actorId, event.targetId, { reason: event.reason })),
  'identity.linked': (event) => act(event.actorId, event.targetId, { provider: event.provider }),
  'identity.unlinked': (event) => act(event.actorId, event.targetId, { provider: event.provider }),
  'email.verificationRequested': (event) => act(event.actorId, event.userId, {}),
  'password.resetRequested': (event) => act(event.actorId, event.userId, {}),
  'login.succeeded': ({ userId, sessionId, method, mfaMethod, amr, deviceId }) =>
    inSession(own(userId, { method, mfaMethod, amr, deviceId }), sessionId),
  'login.newDevice': (event) =>
    inSession(own(event.userId, { signals: event.signals }), event.sessionId),
  'device.trusted': (event) =>
    inSession(own(event.userId, { deviceId: event.deviceId }), event.sessionId),
  'device.revoked': (event) =>
    inSession(own(event.userId, { deviceId: event.deviceId }), event.sessionId),
  'login.failed': (event) => {
    // An address without an account leaves no record: a stranger can repeat it without end.
    if (event.userId === null) return null
    return unproven(event.userId, { method: event.method, reason: event.reason })
  },
  'login.lockedOut': (event) =>
    event.userId === null
      ? null
      : unproven(event.userId, { until: event.until, budget: event.budget }),
  'session.terminated': ({ actorId, userId, sessionId, reason }) =>
    inSession(act(actorId, userId, { reason }), sessionId),
  'session.allTerminated': (event) => act(event.actorId, event.targetId, {}),
  'password.changed': (event) => own(event.userId, { by: event.by }),
  'password.changeFailed': (event) => guessed(event, {}),
  'mfa.changed': (event) => act(event.actorId, event.userId, { change: event.change }),
  'mfa.required': (event) => own(event.userId, { method: event.method, missing: event.missing }),
  'mfa.steppedUp': (event) =>
    inSession(own(event.userId, { method: event.method }), event.sessionId),
  'mfa.failed': (event) => guessed(event, { method: event.method, reason: event.reason }),
  'mfa.lockedOut': (event) =>
    guessed(event, { method: event.method, until: event.until, budget: event.budget }),
  'mfa.backupCodeUsed': (event) => own(event.userId, { remaining: event.remaining }),
  'mfa.passkeyCounterRegressed': ({ userId, credentialId, storedCounter, shownCounter }) =>
    unproven(userId, { credentialId, storedCounter, shownCounter }),
  'mfa.passkeyBackupChanged': ({ userId, credentialId, backedUp, backupEligible }) =>
    own(userId, { credentialId, backedUp, backupEligible }),
  'refresh.reissued': ({ userId, sessionId, generation, otherClient, late }) =>
    inSession(own(userId, { generation, otherClient, late }), sessionId),
  'refresh.unusual': ({ userId, sessionId, changed, outcome, assessed }) =>
    inSession(unproven(userId, { changed, outcome, assessed }), sessionId),
  'refresh.replayDetected': replayed,
  'refresh.storeRolledBack': replayed,
  'config.changed': ({ actorId, module, environment, revision, keys }) =>
    act(actorId, null, { module, environment, revision, keys }),
  'config.seeded': ({ actorId, module, environment, revision, keys }) =>
    act(actorId, null, { module, environment, revision, keys }),
  'config.reencrypted': ({ actorId, module, environment, revision, keys }) =>
    act(actorId, null, { module, environment, revision, keys }),
  'config.activated': ({ actorId, module, environment, previous }) =>
    act(actorId, null, { module, environment, previous }),
  'serviceToken.issued': (event) => own(event.userId, { credentialId: event.credentialId }),
  'serviceToken.refused': (event) => {
    const { userId, credentialId, reason } = event
    // A client id that does not exist leaves no record: a stranger can repeat it without end.
    return credentialId === null ? null : unproven(userId, { credentialId, reason })
  },
  'serviceCredential.issued': (event) =>
    act(event.actorId, event.targetId, { credentialId: event.credentialId }),
  'serviceCredential.revoked': (event) =>
    act(event.actorId, event.targetId, { credentialId: event.credentialId }),
  'serviceCredential.issueFailed': (event) =>
    failed(act(event.actorId, event.targetId, { reason: event.reason })),
  'serviceCredential.revokeFailed': (event) =>
    failed(act(event.actorId, event.targetId, { reason: event.reason })),
  'role.defined': ({ actorId, roleId, role, tenantId, permissions }) =>
    act(actorId, null, { roleId, role, tenantId, permissions }),
  'role.deleted': ({ actorId, roleId, role, tenantId }) =>
    act(actorId, null, { roleId, role, tenantId }),
  'role.bound': ({ actorId, targetId, roleId, tenantId }) =>
    act(actorId, targetId, { roleId, tenantId }),
  'role.unbound': ({ actorId, targetId, roleId, tenantId }) =>
    act(actorId, targetId, { roleId, tenantId }),
  'role.bindFailed': ({ actorId, targetId, roleId, reason }) =>
    failed(act(actorId, targetId, { roleId, reason })),
  'request.refused': ({ userId, operation, reason }) =>
    recordedRefusals.includes(reason) ? failed(act(userId, null, { operation, reason })) : null,
  'refresh.rotated': () => null,
  'session.viewed': () => null,
  'session.overdue': () => null,
  'mail.failed': () => null,
  'webhook.failed': () => null,
  'audit.failed': () => null,
}

function replayed(
  event: AuthEvent & { readonly type: 'refresh.replayDetected' | 'refresh.storeRolledBack' },
): Facts {
  const { userId, sessionId, presentedGeneration, currentGeneration } = event
  return inSession(unproven(userId, { presentedGeneration, currentGeneration }), sessionId)
}

function factsOf<T extends Type>(event: AuthEvent & { readonly type: T }): Facts | null {
  const type: T = event.type
  return recorded[type](event)
}

type Details = AuditEntry['details']

function act(actorId: string | null, targetId: string | null, details: Details): Facts {
  return { outcome: 'success', actorId, targetId, sessionId: null, details }
}

/** The owner acted. */
function own(userId: string, details: Details): Facts {
  return act(userId, userId, details)
}

/** The act of a caller who did not prove to be the account's owner. */
function unproven(targetId: string | null, details: Details): Facts {
  return failed(act(null, targetId, details))
}

/** A wrong secret, shown in a session of the user, or by a caller who is not signed in. */
function guessed(
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string | null },
  details: Details,
): Facts {
  if (sessionId === null) return unproven(userId, details)
  return inSession(failed(own(userId, details)), sessionId)
}

function failed(facts: Facts): Facts {
  return { ...facts, outcome: 'failure' }
}

function inSession(facts: Facts, sessionId: string): Facts {
  return { ...facts, sessionId }
}

const windowMs = 60 * 60 * 1000
/** Records of one matter in a window, each from elsewhere. */
const mostPlaces = 8

/** What a record of an event says. */
interface Routine {
  /** What several events are about. */
  readonly matter: readonly unknown[]
  /** Where one of them came from; left out where that is a part of the matter. */
  readonly place?: string
}

/**
 * Tells whether an event says what a record of the last hour says. Two tabs cause re-issues all day, machines ask for
 * tokens all day, a user may change a name all day, and a stranger may show invalid tokens all day, while records are
 * kept for a year. A caller from elsewhere has another address or browser, and so leaves a record of its own.
 */
function repeatedRecords({ clock }: { readonly clock: Clock }): (event: AuthEvent) => boolean {
  const isNews = fewPerWindow(mostPlaces, windowMs)
  return (event) => {
    const routine = routineOf(event)
    if (routine === null) return false
    const { matter, place = '' } = routine
    return !isNews(JSON.stringify([event.type, ...matter]), place, clock.now())
  }
}

/** Null for an event that is always recorded. */
function routineOf(event: AuthEvent): Routine | null {
  const { ip } = event
  // Callers choose it, so only a few of them are recorded. Hashed, because it may be long.
  const agent = () => sha256(event.userAgent ?? '')
  switch (event.type) {
    case 'refresh.reissued':
      return {
        matter: [event.sessionId, event.otherClient, event.late, networkOf(ip)],
        place: agent(),
      }
    case 'serviceToken.issued':
      return { matter: [event.credentialId, networkOf(ip)], place: agent() }
    case 'request.refused':
      return event.userId === null
        ? { matter: [event.operation, event.reason, networkOf(ip)] }
        : null
    case 'account.updated':
      return isOwnName(event) ? { matter: [event.targetId], place: networkOf(ip) } : null
    default:
      return null
  }
}

type Updated = Extract<AuthEvent, { readonly type: 'account.updated' }>

/** A name decides nothing, and its owner may change it a hundred times a minute. */
function isOwnName({ actorId, targetId, fields }: Updated): boolean {
  return actorId === targetId && fields.every((field) => field === 'name')
}
