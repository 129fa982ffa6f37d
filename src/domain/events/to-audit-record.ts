import type { AuditRecord } from '../../model/event-records.js'
import type { AuthEvent } from '../../ports/events.js'

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
    event.userId === null ? null : unproven(event.userId, { until: event.until }),
  'session.terminated': ({ actorId, userId, sessionId, reason }) =>
    inSession(act(actorId, userId, { reason }), sessionId),
  'session.allTerminated': (event) => act(event.actorId, event.targetId, {}),
  'password.changed': (event) => own(event.userId, { by: event.by }),
  'password.changeFailed': (event) => guessed(event, {}),
  'mfa.changed': (event) => act(event.actorId, event.userId, { change: event.change }),
  'mfa.required': (event) => own(event.userId, { method: event.method, missing: event.missing }),
  'mfa.steppedUp': (event) =>
    inSession(own(event.userId, { method: event.method }), event.sessionId),
  'mfa.failed': (event) => guessed(event, { method: event.method }),
  'mfa.lockedOut': (event) => guessed(event, { method: event.method, until: event.until }),
  'mfa.backupCodeUsed': (event) => own(event.userId, { remaining: event.remaining }),
  'mfa.passkeyCounterRegressed': ({ userId, credentialId, storedCounter, shownCounter }) =>
    unproven(userId, { credentialId, storedCounter, shownCounter }),
  'mfa.passkeyBackupChanged': (event) =>
    own(event.userId, { credentialId: event.credentialId, backedUp: event.backedUp }),
  'refresh.reissued': (event) =>
    inSession(
      own(event.userId, { generation: event.generation, otherClient: event.otherClient }),
      event.sessionId,
    ),
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
