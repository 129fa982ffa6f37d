export { createAuth } from './create-auth.js'
export {
  generateSigningKey,
  type KeyRing,
  type SignElsewhere,
  type SigningInput,
} from './crypto/key-ring.js'
export type { AccessClaims } from './crypto/token-format.js'
export type {
  RegistrationPage,
  RegistrationPageRequest,
  RegistrationRecord,
  Registrations,
} from './domain/accounts/registration.js'
export type {
  NewUser,
  UserChanges,
  UserExport,
  UserRecord,
} from './domain/accounts/user-export.js'
export type {
  ImportBatch,
  ImportConflict,
  ImportedIdentity,
  ImportedUser,
  ImportRefusal,
  ImportReport,
  ImportResult,
} from './domain/accounts/user-import.js'
export type { UserPage, UserPageRequest } from './domain/accounts/user-list.js'
export type { Users } from './domain/accounts/users.js'
export type {
  Role,
  RoleAssignment,
  RoleBinding,
  RoleDefinition,
  Roles,
} from './domain/authorization/roles.js'
export {
  type RoleAuthorizerOptions,
  roleAuthorizer,
  seedOrgRoles,
  shortcutGrants,
} from './domain/authorization/roles.js'
export type { ConfigApi } from './domain/configuration/config-api.js'
export type {
  ConfigChange,
  ElementView,
  EnvironmentView,
  FieldView,
  ModuleSummary,
  ModuleView,
  Reencryption,
} from './domain/configuration/config-views.js'
export type { ConfigRevision } from './domain/configuration/config-writer.js'
export type { Actor, Principal } from './domain/context/actor.js'
export type { AuditLog, AuditPage, AuditPageRequest } from './domain/events/audit-log.js'
export type {
  AddressLimitName,
  RateLimit,
  RateLimitName,
  RateLimits,
  SessionLimitName,
} from './domain/limits/rate-limiter.js'
export type { MailedLink } from './domain/mail/mail-service.js'
export type {
  IdentityAdministration,
  IdentityRecord,
} from './domain/oauth/oauth-links.js'
export type {
  CreatedServiceAccount,
  IssuedServiceCredential,
  NewServiceAccountInput,
  ServiceAccountAdministration,
  ServiceAccountChanges,
  ServiceAccountList,
  ServiceAccountListRequest,
  ServiceAccountRecord,
  ServiceCredentialRecord,
} from './domain/service-accounts/service-accounts.js'
export type { SecretText } from './domain/service-accounts/service-credentials.js'
export type { SessionAdministration, SessionEntry } from './domain/sessions/own-sessions.js'
export type { AccessGrant } from './domain/sessions/tokens.js'
export {
  AuthError,
  type AuthErrorOptions,
  DeletionRefusedError,
  type ErrorCode,
  errorCatalogue,
  OptionsError,
  type PasswordViolation,
} from './errors/index.js'
export type {
  ExchangeBody,
  ExchangeReply,
  ExchangeRequest,
  Mountable,
  OptionalRouteGuard,
  OptionalRouteGuards,
  OptionalRouteGuardVerdict,
  RequestHead,
  RouteGuard,
  RouteGuarded,
  RouteGuardRequest,
  RouteGuards,
  RouteGuardVerdict,
  TenantOf,
} from './http/http-message.js'
export type { TrustProxy } from './http/incoming-request.js'
export type { AudienceOf } from './http/route-guards.js'
export type {
  ConnectionSession,
  MintedAccess,
  PageSession,
  SessionOf,
  SessionUse,
} from './http/session-facts.js'
export type { ProviderEndpoints } from './identity-providers/provider.js'
export type { ProviderId } from './identity-providers/providers.js'
export type { CollectionName } from './model/collections.js'
export type { AuditRecord } from './model/event-records.js'
export { MODULE_CONFIG_PERMISSIONS, PERMISSIONS, type PermissionInfo } from './model/permissions.js'
export type { Membership } from './model/user.js'
export type {
  AuthOptions,
  HashOptions,
  OauthOptions,
  OauthProviderOptions,
  SurfaceOptions,
} from './options.js'
export type {
  Answer,
  Backend,
  Counter,
  CounterResult,
  Denylist,
  DenylistEntry,
  Lease,
  LeaseRecord,
} from './ports/backend.js'
export type {
  AccountField,
  AccountStanding,
  AuthEvent,
  EndReason,
  EventContext,
  LockoutBudget,
  LoginFailure,
  MfaChange,
  MfaMethod,
  OauthFailure,
} from './ports/events.js'
export type {
  Argon2Params,
  Authorizer,
  AuthorizerFactory,
  BeforeRegister,
  Clock,
  Fetcher,
  FirebaseScryptParams,
  HeldRole,
  HeldRoles,
  LegacyHashes,
  LegacyVerifier,
  Logger,
  Mail,
  Mailer,
  OutboundReply,
  OutboundRequest,
  PasswordHasher,
  PermissionQuestion,
  Random,
  Registering,
} from './ports/host.js'
export type {
  DiagnosisOptions,
  Finding,
  FindingCheck,
  InspectedProblem,
  Inspection,
} from './ports/inspection.js'
export type {
  PastLogin,
  RiskAssessment,
  RiskQuestion,
  RiskScorer,
  RiskSignal,
  SessionChange,
  SessionRiskOutcome,
  SessionRiskQuestion,
  SessionRiskScorer,
} from './ports/risk-scorers.js'
export type {
  AnyCollectionSpec,
  Collection,
  CollectionSpec,
  Doc,
  FieldKind,
  FieldSpec,
  Guard,
  GuardTest,
  IndexSpec,
  ManyCalls,
  MigrationStep,
  Page,
  RemovedDocuments,
  Scalar,
  Store,
  SweepResult,
} from './ports/store.js'
export type { Audience, Surface, UserKind } from './ports/surface.js'
export type { MeterProvider, RequestIdHeader, TracerProvider } from './ports/telemetry.js'
export type { InitialSettings } from './settings/settings.js'
export type { AllSessionsOptions, Auth, AuthOf, OperatorAuth, SurfaceAuth } from './setup/auth.js'
export type { LinkStart, OwnIdentities, OwnSessions } from './setup/own-account.js'
export { checkedStore } from './stores/checked-store.js'
export { type StoreSplit, splitStore } from './stores/split-store.js'
