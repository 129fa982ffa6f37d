import type { AnyCollectionSpec, Collection, CollectionSpec, Doc, Store } from '../ports/store.js'
import type { Surface } from '../ports/surface.js'
import { type AuditRecords, auditRecordsOf } from './audit-record.js'
import { type BackupCodes, backupCodesOf } from './backup-codes.js'
import { modulesSpec } from './config-module.js'
import { type LoginTicket, loginTicketsOf } from './login-ticket.js'
import { moduleEnvironmentsSpec } from './module-environment.js'
import { moduleRevisionsSpec } from './module-revision.js'
import { type PasswordHistory, passwordHistoriesOf } from './password-history.js'
import { type RefreshFamily, refreshFamiliesOf } from './refresh-family.js'
import { type Session, sessionsOf } from './session.js'
import { type StepUpProof, stepUpProofsOf } from './step-up-proof.js'
import { type Ticket, ticketsOf } from './ticket.js'
import { type TotpFactor, totpFactorsOf } from './totp-factor.js'
import { type User, usersOf } from './user.js'
import { type WebhookDelivery, webhookDeliveriesOf } from './webhook-delivery.js'
/** The collections of one surface, physically apart from the other's (seed 1). */
export interface Collections {
  readonly users: Collection<User>
  readonly sessions: Collection<Session>
  readonly families: Collection<RefreshFamily>
  readonly tickets: Collection<Ticket>
  readonly passwordHistories: Collection<PasswordHistory>
  readonly auditRecords: AuditRecords
  readonly totpFactors: Collection<TotpFactor>
  readonly stepUpProofs: Collection<StepUpProof>
  readonly loginTickets: Collection<LoginTicket>
  readonly backupCodes: Collection<BackupCodes>
  readonly webhookDeliveries: Collection<WebhookDelivery>
}

export function collectionsOf(store: Store, surface: Surface, prefix: string): Collections {
  const open = <T extends Doc>(spec: CollectionSpec<T>): Collection<T> =>
    store.collection({ ...spec, name: prefix + spec.name })
  return {
    users: open(usersOf(surface)),
    sessions: open(sessionsOf(surface)),
    families: open(refreshFamiliesOf(surface)),
    tickets: open(ticketsOf(surface)),
    passwordHistories: open(passwordHistoriesOf(surface)),
    auditRecords: open(auditRecordsOf(surface)),
    totpFactors: open(totpFactorsOf(surface)),
    stepUpProofs: open(stepUpProofsOf(surface)),
    loginTickets: open(loginTicketsOf(surface)),
    backupCodes: open(backupCodesOf(surface)),
    webhookDeliveries: open(webhookDeliveriesOf(surface)),
  }
}

/** Every collection of both surfaces and of the configuration store, for `Store.prepare`. */
export function allCollectionSpecs(prefix: string): readonly AnyCollectionSpec[] {
  const ofSurfaces = (['operator', 'client'] as const).flatMap((surface): AnyCollectionSpec[] => [
    usersOf(surface),
    sessionsOf(surface),
    refreshFamiliesOf(surface),
    ticketsOf(surface),
    passwordHistoriesOf(surface),
    auditRecordsOf(surface),
    webhookDeliveriesOf(surface),
    backupCodesOf(surface),
    loginTicketsOf(surface),
    stepUpProofsOf(surface),
    totpFactorsOf(surface),
  ])
  return [...ofSurfaces, modulesSpec, moduleEnvironmentsSpec, moduleRevisionsSpec].map((spec) => ({
    ...spec,
    name: prefix + spec.name,
  }))
}
