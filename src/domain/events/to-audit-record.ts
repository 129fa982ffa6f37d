import type { AuditRecord } from '../../model/audit-record.js'
import type { AuthEvent } from '../../ports/auth-event.js'

/** An audit record before it has an id and a date to be swept on. */
export type AuditEntry = Omit<AuditRecord, 'id' | 'expiresAt'>

type Facts = Pick<AuditEntry, 'outcome' | 'actorId' | 'targetId' | 'sessionId' | 'details'>

/**
 * Refusals anybody can cause without limit leave an event and no record: records are kept for a
 * year, and nobody may fill the database by asking. These come from somebody signed in, or spend
 * the small budget of the recovery class.
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

/** Names each member that is kept, so that one added to an event later is not kept by accident. */
function factsOf(event: AuthEvent): Facts | null {
  switch (event.type) {
    case 'account.registered':
    case 'email.verified':
    case 'email.changeRequested':
    case 'email.changed':
      return own(event.userId, {})
    case 'account.registrationRepeated':
      return unproven(null, {})
    case 'account.created':
    case 'account.deleted':
      return act(event.actorId, event.targetId, {})
    case 'account.createFailed':
      return failed(act(event.actorId, null, { reason: event.reason }))
    case 'account.updated': {
      const { actorId, targetId, fields, before, after } = event
      return act(actorId, targetId, { fields, before, after })
    }
    case 'account.updateFailed':
    case 'account.deleteFailed':
      return failed(act(event.actorId, event.targetId, { reason: event.reason }))
    case 'identity.linked':
    case 'identity.unlinked':
      return act(event.actorId, event.targetId, { provider: event.provider })
    case 'email.verificationRequested':
    case 'password.resetRequested':
      return act(event.actorId, event.userId, {})
    case 'login.succeeded':
      return inSession(
        own(event.userId, { method: event.method, deviceId: event.deviceId }),
        event.sessionId,
      )
    case 'login.newDevice':
      return inSession(own(event.userId, { signals: event.signals }), event.sessionId)
    case 'device.trusted':
    case 'device.revoked':
      return inSession(own(event.userId, { deviceId: event.deviceId }), event.sessionId)
    case 'login.failed':
      // Of an address without an account: anybody can go on with that for as long as they like.
      if (event.userId === null) return null
      return unproven(event.userId, { method: event.method, reason: event.reason })
    case 'login.lockedOut':
      return unproven(event.userId, { until: event.until })
    case 'session.terminated': {
      const { actorId, userId, sessionId, reason } = event
      return inSession(act(actorId, userId, { reason }), sessionId)
    }
    case 'session.allTerminated':
      return act(event.actorId, event.targetId, {})
    case 'password.changed':
      return own(event.userId, { by: event.by })
    case 'password.changeFailed':
      return inSession(failed(own(event.userId, {})), event.sessionId)
    case 'mfa.changed':
      return act(event.actorId, event.userId, { change: event.change })
    case 'mfa.required':
      return own(event.userId, { method: event.method, missing: event.missing })
    case 'mfa.steppedUp':
      return inSession(own(event.userId, { method: event.method }), event.sessionId)
    case 'mfa.failed':
      return unproven(event.userId, { method: event.method })
    case 'mfa.lockedOut':
      return unproven(event.userId, { method: event.method, until: event.until })
    case 'mfa.backupCodeUsed':
      return own(event.userId, { remaining: event.remaining })
    case 'mfa.passkeyCounterRegressed': {
      const { userId, credentialId, storedCounter, shownCounter } = event
      return unproven(userId, { credentialId, storedCounter, shownCounter })
    }
    case 'mfa.passkeyBackupChanged':
      return own(event.userId, { credentialId: event.credentialId, backedUp: event.backedUp })
    case 'refresh.reissued':
      return inSession(own(event.userId, { generation: event.generation }), event.sessionId)
    case 'refresh.replayDetected':
    case 'refresh.storeRolledBack': {
      const { presentedGeneration, currentGeneration } = event
      const facts = unproven(event.userId, { presentedGeneration, currentGeneration })
      return inSession(facts, event.sessionId)
    }
    case 'config.changed':
    case 'config.seeded':
    case 'config.reencrypted': {
      const { actorId, module, environment, revision, keys } = event
      return act(actorId, null, { module, environment, revision, keys })
    }
    case 'config.activated': {
      const { actorId, module, environment, previous } = event
      return act(actorId, null, { module, environment, previous })
    }
    case 'serviceToken.issued':
      return own(event.userId, { credentialId: event.credentialId })
    case 'serviceToken.refused': {
      const { userId, credentialId, reason } = event
      // Of a client id nobody has: anybody can go on with that for as long as they like.
      return credentialId === null ? null : unproven(userId, { credentialId, reason })
    }
    case 'serviceCredential.issued':
    case 'serviceCredential.revoked':
      return act(event.actorId, event.targetId, { credentialId: event.credentialId })
    case 'serviceCredential.issueFailed':
    case 'serviceCredential.revokeFailed':
      return failed(act(event.actorId, event.targetId, { reason: event.reason }))
    case 'role.defined': {
      const { actorId, roleId, role, tenantId, permissions } = event
      return act(actorId, null, { roleId, role, tenantId, permissions })
    }
    case 'role.deleted': {
      const { actorId, roleId, role, tenantId } = event
      return act(actorId, null, { roleId, role, tenantId })
    }
    case 'role.bound':
    case 'role.unbound': {
      const { actorId, targetId, roleId, tenantId } = event
      return act(actorId, targetId, { roleId, tenantId })
    }
    case 'role.bindFailed': {
      const { actorId, targetId, roleId, reason } = event
      return failed(act(actorId, targetId, { roleId, reason }))
    }
    case 'request.refused': {
      const { operation, reason } = event
      if (!recordedRefusals.includes(reason)) return null
      return failed(act(event.userId, null, { operation, reason }))
    }
    case 'refresh.rotated':
    case 'mail.failed':
    case 'webhook.failed':
    case 'audit.failed':
      return null
  }
}

type Details = AuditEntry['details']

function act(actorId: string | null, targetId: string | null, details: Details): Facts {
  return { outcome: 'success', actorId, targetId, sessionId: null, details }
}

/** The owner acted. */
function own(userId: string, details: Details): Facts {
  return act(userId, userId, details)
}

/** A caller acted who did not prove to be the account's owner. */
function unproven(targetId: string | null, details: Details): Facts {
  return failed(act(null, targetId, details))
}

function failed(facts: Facts): Facts {
  return { ...facts, outcome: 'failure' }
}

function inSession(facts: Facts, sessionId: string): Facts {
  return { ...facts, sessionId }
}
