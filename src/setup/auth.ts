import type { Registrations } from '../domain/accounts/registration.js'
import type { Users } from '../domain/accounts/users.js'
import type { Roles } from '../domain/authorization/roles.js'
import type { ConfigApi } from '../domain/configuration/config-api.js'
import type { Actor, Principal } from '../domain/context/actor.js'
import type { AuditLog } from '../domain/events/audit-log.js'
import type { ServiceAccountAdministration } from '../domain/service-accounts/service-accounts.js'
import type { SessionAdministration } from '../domain/sessions/own-sessions.js'
import type { Mountable, RouteGuarded } from '../http/http-message.js'
import type { AudienceOf } from '../http/route-guards.js'
import type { SessionOf } from '../http/session-facts.js'
import type { DiagnosisOptions, Finding } from '../ports/inspection.js'
import type { Surface } from '../ports/surface.js'
import type { OwnIdentities, OwnSessions } from './own-account.js'

/** A surface: its routes, for a framework adapter to mount, and its users, roles, sessions and audit log. */
export interface SurfaceAuth<S extends Surface = Surface>
  extends Mountable,
    SessionAdministration,
    RouteGuarded<Principal<S>, AudienceOf<S>> {
  readonly users: Users
  /** What was registered and is not confirmed yet. */
  readonly registrations: Registrations
  /** Their sessions. */
  readonly sessions: OwnSessions<S>
  /** Their accounts at identity providers. */
  readonly identities: OwnIdentities<S>
  /** The roles kept in the store and their bindings. They count with `authorizer: roleAuthorizer()`. */
  readonly roles: Roles
  /**
   * Resolves with the principal of an `Authorization` header, for the host's own routes and outside of
   * HTTP. Checks signature, audience, expiry and, for every call, the denylist. Throws `AuthError`
   * `unauthorized` (the 401 without a code: the client refreshes and retries), `audience_mismatch`,
   * `session_revoked`, `session_max_age_reached`, or 503 `session_enforcement_unavailable` when the
   * denylist cannot be read. Reads no user record: call `users.get` if `enabled` or roles matter.
   */
  authenticate(authorization: string | undefined): Promise<Principal<S>>
  /**
   * For the host's own routes: reads the user, asks the authorizer, and resolves only if it allows.
   * `tenantId` names the tenant in question. Throws `AuthError` `permission_denied` (403), also for a
   * disabled or deleted user and for an invalid `tenantId`, and `authorization_unavailable` or `service_unavailable`
   * (503), where the authorizer or the store fails. More than a second after `authenticate`, it first asks again for
   * token, signing key and session, and throws what `authenticate` throws. It does not know the key of a copy of the principal, such as one out of JSON.
   */
  requirePermission(
    principal: Principal<S>,
    permission: string,
    of?: { readonly tenantId: string },
  ): Promise<void>
  /**
   * For the host's own routes: resolves only if the principal's session showed a second factor less
   * than `maxAgeMs` milliseconds ago, at login or at `POST …/step-up`. Else throws `AuthError`
   * `step_up_required` (403), also for a service account, or `mfa_enrollment_required` (403) for a user
   * without a factor, with `maxAgeSeconds` for the challenge of RFC 9470 §3. A password, a refresh and a
   * trusted device do not count. It asks again for token and session as `requirePermission` does. Throws a `TypeError` for
   * a `maxAgeMs` above an hour: proofs are kept no longer.
   */
  requireStepUp(principal: Principal<S>, age: { readonly maxAgeMs: number }): Promise<void>
  /**
   * The session whose refresh cookie a request brings, for pages, connections and form posts that the host renders or
   * serves itself; null if no user is signed in. It decides as `GET …/session` does, and writes, rotates and ends
   * nothing: a cookie that was replaced, or a session over its cap, is null and the event `session.overdue`. Asked
   * again about one request object, it answers a `page` as it did first, and reads the session afresh for the other
   * uses, as `recheck` of a connection does.
   *
   * `use` says what for: `page` (GET and HEAD, any origin), `connection` (`Origin` is one of the surface's, or
   * `Sec-Fetch-Site: same-origin`), `action` (POST, PUT, PATCH, DELETE, and the origin rule of
   * `POST …/refresh-cookie`). `mint: true` adds an access token, for `connection` and `action` alone. It counts in no
   * rate limit. Send the result's `headers` with the reply; where the result is null, send the same header yourself.
   *
   * Throws `AuthError` 405 `method_not_allowed`, 403 `csrf_rejected`, 404 `not_found` on a host of the other surface
   * alone, and 503 `session_enforcement_unavailable` when store, denylist or keys do not answer. Throws a `TypeError`
   * for what is no request, for another `use`, and for `mint` with `page`.
   */
  readonly sessionOf: SessionOf<S>
  readonly audit: AuditLog
}

/** The surface of operators, with the machines among them. */
export interface OperatorAuth extends SurfaceAuth<'operator'> {
  readonly serviceAccounts: ServiceAccountAdministration
}

/** The options of `terminateAllSessions`. */
export interface AllSessionsOptions {
  /** Default: all surfaces of the host. */
  readonly surfaces?: readonly Surface[]
  /**
   * A past time in whole epoch milliseconds, which names the piece of work for a repeated call. All that
   * a user holds when the call reaches them is ended, also what is a little younger. Default: now.
   */
  readonly issuedBefore?: number
  /** The actor for events and audit records. */
  readonly by?: Actor
}

/** The library, built by `createAuth`. */
export interface Auth {
  /** `/v1/auth/operator/*`, `/v1/admin/*` and the unprefixed paths, to mount on a host for operators. */
  readonly operator: OperatorAuth
  /** `/v1/auth/client/*` and the unprefixed paths, to mount on a host for clients. */
  readonly client: SurfaceAuth<'client'>
  /** All surfaces, to mount in one process. Each is answered on its own hosts; see `SurfaceOptions.hosts`. */
  readonly both: Mountable
  /**
   * The metadata of the issuer (RFC 8414): the keys that sign access tokens, and the token endpoint for service
   * accounts. Libraries find it by the issuer: `/.well-known/oauth-authorization-server`, with the issuer's path
   * behind it. Mount it without a prefix. There is none, and one warning, unless `issuer` is an https URL on a host
   * of the operator surface, or of the client surface where that is the only one.
   */
  readonly metadata: Mountable
  readonly keys: {
    /**
     * Reads `createAuth({ keys })` again at once, if it is a function. Rejects when what it answers is not valid; the
     * keys read before stay in use then.
     */
    reload(): Promise<void>
  }
  readonly config: ConfigApi
  /**
   * Ends the sessions of all people, on both surfaces unless `surfaces` names one, with their trusted
   * devices, step-up proofs, logins under way and mailed links: after a backup was restored, or a breach.
   * Access tokens of service accounts, and of sessions that the database does not know, are refused only
   * once the signing key is replaced without `previous`. Resolves with the number of people that this
   * call wrote to. It walks all accounts in batches: give the same `issuedBefore` again after a rejection
   * or a crash, and the call completes the work without ending what was opened since. Throws `AuthError`
   * `invalid_request`, and `service_unavailable` when the store fails.
   */
  terminateAllSessions(options?: AllSessionsOptions): Promise<number>
  /**
   * Prepares the database and registers the modules, which gives settings without a value their first
   * values. Call it before serving. Replicas may call it in parallel, and any number of times. A process that does
   * nothing else calls `close()` at its end. Rejects with the database's own error, and by name where denylist, lease or
   * counter does not answer.
   */
  migrate(): Promise<void>
  /**
   * What a person should mend before, or while, users depend on it: proxies, hosts and cookies, key sizes, the
   * database's schema, clock and durability, stored settings and secrets, the cost of a password hash on this machine,
   * identity providers that cannot be reached. Empty where all is well. Writes nothing, takes a second or two, and
   * hashes twice: for a deployment or an administrator, and not for a health check. `postern doctor` prints it. Rejects
   * with the database's own error where it does not answer.
   */
  diagnose(options?: DiagnosisOptions): Promise<readonly Finding[]>
  /**
   * Waits for mails and audit records in progress, hands the sweep to another replica, reads `keys` no more, and takes
   * this process off the list of those that `needsRestart` of a module waits for. Resolves after 15 seconds at the
   * latest, with a warning in the log: a mailer may never answer. The host closes the backend.
   */
  close(): Promise<void>
}

/** What `createAuth` gives a host with these surfaces: without `operator` or `client` where the host has none. */
export type AuthOf<S extends Surface> = Surface extends S ? Auth : Omit<Auth, Exclude<Surface, S>>
