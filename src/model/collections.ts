import type { AnyCollectionSpec, Collection, CollectionSpec, Doc, Store } from '../ports/store.js'
import type { Surface } from '../ports/surface.js'
import { type AccountDeletion, accountDeletionsOf } from './account-deletion.js'
import { type AuditRecords, auditRecordsOf } from './audit-record.js'
import { type BackupCodes, backupCodesOf } from './backup-codes.js'
import { modulesSpec } from './config-module.js'
import { type LoginTicket, loginTicketsOf } from './login-ticket.js'
import { moduleEnvironmentsSpec } from './module-environment.js'
import { moduleRevisionsSpec } from './module-revision.js'
import { type OauthCode, oauthCodesOf } from './oauth-code.js'
import { type OauthFlow, oauthFlowsOf } from './oauth-flow.js'
import { type OauthIdentity, oauthIdentitiesOf } from './oauth-identity.js'
import { type Passkey, passkeysOf } from './passkey.js'
import { type PasskeyChallenge, passkeyChallengesOf } from './passkey-challenge.js'
import { type PasswordHistory, passwordHistoriesOf } from './password-history.js'
import { type RefreshFamily, refreshFamiliesOf } from './refresh-family.js'
import { rolesOf, type StoredRole } from './role.js'
import { roleBindingsOf, type StoredRoleBinding } from './role-binding.js'
import { serviceCredentialsSpec } from './service-credential.js'
import { type Session, sessionsOf } from './session.js'
import { type StepUpProof, stepUpProofsOf } from './step-up-proof.js'
import { type Ticket, ticketsOf } from './ticket.js'
import { type TotpFactor, totpFactorsOf } from './totp-factor.js'
import { type TrustedDevice, trustedDevicesOf } from './trusted-device.js'
import { type User, usersOf } from './user.js'
import { type WebhookDelivery, webhookDeliveriesOf } from './webhook-delivery.js'
/** The collections of one surface, physically apart from the other's. */
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
  readonly trustedDevices: Collection<TrustedDevice>
  readonly oauthIdentities: Collection<OauthIdentity>
  readonly oauthFlows: Collection<OauthFlow>
  readonly oauthCodes: Collection<OauthCode>
  readonly passkeys: Collection<Passkey>
  readonly passkeyChallenges: Collection<PasskeyChallenge>
  readonly webhookDeliveries: Collection<WebhookDelivery>
  readonly accountDeletions: Collection<AccountDeletion>
  readonly roles: Collection<StoredRole>
  readonly roleBindings: Collection<StoredRoleBinding>
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
    trustedDevices: open(trustedDevicesOf(surface)),
    oauthIdentities: open(oauthIdentitiesOf(surface)),
    oauthFlows: open(oauthFlowsOf(surface)),
    oauthCodes: open(oauthCodesOf(surface)),
    passkeys: open(passkeysOf(surface)),
    passkeyChallenges: open(passkeyChallengesOf(surface)),
    webhookDeliveries: open(webhookDeliveriesOf(surface)),
    accountDeletions: open(accountDeletionsOf(surface)),
    roles: open(rolesOf(surface)),
    roleBindings: open(roleBindingsOf(surface)),
  }
}

/** Every collection there is, of both surfaces and of neither, for `Store.prepare`. */
export function allCollectionSpecs(prefix: string): readonly AnyCollectionSpec[] {
  const ofSurfaces = (['operator', 'client'] as const).flatMap((surface): AnyCollectionSpec[] => [
    usersOf(surface),
    sessionsOf(surface),
    refreshFamiliesOf(surface),
    ticketsOf(surface),
    passwordHistoriesOf(surface),
    auditRecordsOf(surface),
    webhookDeliveriesOf(surface),
    accountDeletionsOf(surface),
    backupCodesOf(surface),
    oauthIdentitiesOf(surface),
    oauthFlowsOf(surface),
    oauthCodesOf(surface),
    loginTicketsOf(surface),
    passkeyChallengesOf(surface),
    passkeysOf(surface),
    stepUpProofsOf(surface),
    totpFactorsOf(surface),
    trustedDevicesOf(surface),
    rolesOf(surface),
    roleBindingsOf(surface),
  ])
  const shared = [modulesSpec, moduleEnvironmentsSpec, moduleRevisionsSpec, serviceCredentialsSpec]
  return [...ofSurfaces, ...shared].map((spec) => ({ ...spec, name: prefix + spec.name }))
}
