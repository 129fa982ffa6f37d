import type {
  CodeMethod,
  DeliveredLogin,
  LoginResult,
  MfaStatus,
  OpenedSession,
  Refreshed,
  RefreshGrant,
  RegistrationResult,
  SessionView,
  TotpConfirmation,
} from '../domain/services.js'
import type { User } from '../model/user.js'
import type { Answer } from './operation.js'

/** How results of the domain look on the wire. */

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

function userView(user: User) {
  return {
    id: user.id,
    email: user.emailAsTyped,
    name: user.name,
    emailVerified: user.emailVerifiedAt !== null,
  }
}

export function meView(user: User) {
  return {
    ...userView(user),
    kind: user.kind,
    createdAt: isoTime(user.createdAt),
    hasPassword: user.passwordHash !== null,
    // Provider login does not exist yet, so nobody can have linked one.
    identities: [],
    memberships: user.memberships.map(({ tenantId }) => ({ tenantId })),
  }
}

function authenticated(session: OpenedSession) {
  return {
    status: 'authenticated' as const,
    ...session.access,
    user: userView(session.user),
  }
}

/** Web: the refresh token goes into the cookie and nowhere else. */
export function webLogin(result: LoginResult): Answer<WebLogin> {
  if (result.status !== 'authenticated') return { body: unfinished(result) }
  return { body: authenticated(result.session), refreshCookie: result.session.refresh }
}

type WebLogin = ReturnType<typeof authenticated> | ReturnType<typeof unfinished>

/** A copy: what the schemas describe can be written to. */
function unfinished(result: Exclude<LoginResult, { status: 'authenticated' }>) {
  return result.status === 'mfaRequired' ? { ...result, methods: [...result.methods] } : result
}

/** Mobile: tokens in the body, no cookie. */
export function mobileLogin(result: LoginResult): Answer<MobileLogin> {
  if (result.status !== 'authenticated') return { body: unfinished(result) }
  const { session } = result
  return { body: { ...authenticated(session), ...refreshView(session.refresh) } }
}

type MobileLogin =
  | (ReturnType<typeof authenticated> & ReturnType<typeof refreshView>)
  | ReturnType<typeof unfinished>

function refreshView({ refreshToken, expiresIn }: RefreshGrant) {
  return { refreshToken, refreshExpiresIn: expiresIn }
}

export function registrationAnswer(result: RegistrationResult) {
  return result.status === 'verificationRequired' ? { body: result } : webLogin(result)
}

export function cookieRefresh(refreshed: Refreshed) {
  return {
    body: refreshed.access,
    refreshCookie: refreshed.refresh,
    headers: { 'x-refresh-outcome': refreshed.outcome },
  }
}

export function bodyRefresh(refreshed: Refreshed) {
  return {
    body: { ...refreshed.access, ...refreshView(refreshed.refresh) },
    headers: { 'x-refresh-outcome': refreshed.outcome },
  }
}

export function sessionView(view: SessionView) {
  return {
    ...view.access,
    session: {
      id: view.family.id,
      loginAt: isoTime(view.family.loginAt),
      idleExpiresAt: isoTime(view.family.expiresAt),
      absoluteExpiresAt: view.absoluteExpiresAt === null ? null : isoTime(view.absoluteExpiresAt),
    },
    user: userView(view.user),
  }
}

/** The session goes on with the cookie of its next refresh token, where it has one. */
export function passwordChanged(refresh: RefreshGrant | null): Answer<null> {
  return refresh === null ? { body: null } : { body: null, refreshCookie: refresh }
}

/** Where the login began decides where its tokens go. */
export function deliveredLogin({ result, delivery }: DeliveredLogin) {
  return delivery === 'cookie' ? webLogin(result) : mobileLogin(result)
}

export function mfaStatusView({ provedAt, ...status }: MfaStatus) {
  return { ...status, stepUp: { provedAt: provedAt === null ? null : isoTime(provedAt) } }
}

export function totpConfirmationView({ backupCodes, login }: TotpConfirmation) {
  if (login === null) return { body: { backupCodes } }
  const { body, ...answer } = deliveredLogin(login)
  return { ...answer, body: { ...body, backupCodes } }
}

export function stepUpView(method: CodeMethod, provedAt: number) {
  return { provedAt: isoTime(provedAt), method }
}
