import type { LinkedIdentity } from '../domain/accounts/profile.js'
import type { RegistrationResult } from '../domain/accounts/registration.js'
import type { CodeMethod } from '../domain/factors/code-verification.js'
import type { MfaStatus } from '../domain/factors/own-factors.js'
import type { DeviceGrant, ListedDevice } from '../domain/factors/trusted-devices.js'
import type { DeliveredLogin, LoginResult } from '../domain/login/login-pipeline.js'
import type { TotpConfirmation } from '../domain/login/password-login.js'
import type { BrowserFlow, Returned } from '../domain/oauth/oauth-sign-in.js'
import type { RegisteredPasskey } from '../domain/passkeys/passkey-ceremonies.js'
import type { ListedSession } from '../domain/sessions/own-sessions.js'
import type { Refreshed, SessionView } from '../domain/sessions/refresh.js'
import type { OpenedSession } from '../domain/sessions/sessions.js'
import type { RefreshGrant } from '../domain/sessions/tokens.js'
import type { Passkey } from '../model/factors.js'
import type { User } from '../model/user.js'
import type { Answer, Call } from './operation.js'

/** The form of the domain's results on the wire. */

export function isoTime(ms: number): string {
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

export function meView(user: User, identities: readonly LinkedIdentity[]) {
  return {
    ...userView(user),
    kind: user.kind,
    createdAt: isoTime(user.createdAt),
    hasPassword: user.passwordHash !== null,
    identities: identities.map(({ provider, linkedAt }) => ({
      provider,
      linkedAt: isoTime(linkedAt),
    })),
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
  const { session, device, recognition } = result
  return {
    body: authenticated(session),
    refreshCookie: session.refresh,
    ...(recognition === null ? {} : { recognitionCookie: recognition }),
    ...(device === undefined ? {} : { deviceCookie: device }),
  }
}

type WebLogin = ReturnType<typeof authenticated> | ReturnType<typeof unfinished>

/** A copy: what the schemas describe can be written to. */
function unfinished(result: Exclude<LoginResult, { status: 'authenticated' }>) {
  return result.status === 'mfaRequired' ? { ...result, methods: [...result.methods] } : result
}

/** Mobile: tokens in the body, no cookie. */
export function mobileLogin(result: LoginResult): Answer<MobileLogin> {
  if (result.status !== 'authenticated') return { body: unfinished(result) }
  const { session, device, recognition } = result
  const kept = {
    ...(device === undefined ? {} : { deviceToken: device.deviceToken }),
    ...(recognition === null ? {} : { recognitionId: recognition.recognitionId }),
  }
  return { body: { ...authenticated(session), ...refreshView(session.refresh), ...kept } }
}

type MobileLogin =
  | (ReturnType<typeof authenticated> &
      ReturnType<typeof refreshView> & {
        readonly deviceToken?: string
        readonly recognitionId?: string
      })
  | ReturnType<typeof unfinished>

function refreshView({ refreshToken, expiresIn }: RefreshGrant) {
  return { refreshToken, refreshExpiresIn: expiresIn }
}

/** What tells a registration from those of others goes where tokens go. */
export function registrationAnswer(result: RegistrationResult, delivery: 'cookie' | 'body') {
  if (result.status !== 'verificationRequired') return deliveredLogin({ result, delivery })
  const { status, registrationKey, expiresIn } = result
  if (delivery === 'body') return { body: { status, registrationKey, expiresIn } }
  return { body: { status }, registrationCookie: { registrationKey, expiresIn } }
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

/** The operation that began the login decides where its tokens go. */
export function deliveredLogin({ result, delivery }: DeliveredLogin) {
  return delivery === 'cookie' ? webLogin(result) : mobileLogin(result)
}

/** Whether the device a login comes from is to be trusted, and under what name. */
export function trustRequest(body: {
  readonly trustDevice?: boolean | undefined
  readonly deviceName?: string | undefined
}) {
  return body.trustDevice === true ? { name: body.deviceName ?? '' } : null
}

/** The token goes into the cookie, or into the body if the request asked for that. */
export function trustedDevice(grant: DeviceGrant, delivery: 'cookie' | 'body') {
  const { deviceId, deviceToken, name } = grant
  const body = { deviceId, name, expiresAt: isoTime(grant.expiresAt) }
  return delivery === 'body' ? { body: { ...body, deviceToken } } : { body, deviceCookie: grant }
}

export function deviceListView(devices: readonly ListedDevice[]) {
  return {
    items: devices.map(({ id, name, createdAt, lastUsedAt, expiresAt, current }) => ({
      deviceId: id,
      name,
      createdAt: isoTime(createdAt),
      lastUsedAt: lastUsedAt === null ? null : isoTime(lastUsedAt),
      expiresAt: isoTime(expiresAt),
      current,
    })),
  }
}

export function sessionListView(sessions: readonly ListedSession[]) {
  return {
    items: sessions.map(({ loginAt, expiresAt, ...session }) => ({
      ...session,
      loginAt: isoTime(loginAt),
      expiresAt: isoTime(expiresAt),
    })),
  }
}

export function mfaStatusView({ provedAt, ...status }: MfaStatus) {
  return { ...status, stepUp: { provedAt: provedAt === null ? null : isoTime(provedAt) } }
}

export function totpConfirmationView({ backupCodes, login }: TotpConfirmation) {
  if (login === null) return { body: { backupCodes } }
  const { body, ...answer } = deliveredLogin(login)
  return { ...answer, body: { ...body, backupCodes } }
}

export function passkeyView({
  id,
  name,
  createdAt,
  lastUsedAt,
}: Pick<Passkey, 'id' | 'name' | 'createdAt' | 'lastUsedAt'>) {
  const used = lastUsedAt === null ? null : isoTime(lastUsedAt)
  return { credentialId: id, name, createdAt: isoTime(createdAt), lastUsedAt: used }
}

export function registeredPasskeyView({ passkey, login }: RegisteredPasskey) {
  const { lastUsedAt: _, ...view } = passkeyView(passkey)
  if (login === null) return { body: view }
  const { body, ...answer } = deliveredLogin(login)
  return { ...answer, body: { ...body, ...view } }
}

export function stepUpView<M extends CodeMethod | 'webauthn'>(method: M, provedAt: number) {
  return { provedAt: isoTime(provedAt), method }
}

/** Redirects the browser to the provider. */
export function redirectToProvider({ authorizationUrl, cookies }: BrowserFlow): Answer<null> {
  return { body: null, flowCookies: cookies, headers: { location: authorizationUrl } }
}

/** The same for a page that opens the URL itself. */
export function linkBegun({ authorizationUrl, expiresIn, cookies }: BrowserFlow) {
  return { body: { authorizationUrl, expiresIn }, flowCookies: cookies }
}

/** Redirects the browser back to the host's page or app. */
export function redirectToApp(returned: Returned): Answer<null> {
  const { location, failed, refresh, cookie, recognition, registration } = returned
  return {
    body: null,
    headers: { location },
    ...(failed ? { status: 303 } : {}),
    ...(refresh === null ? {} : { refreshCookie: refresh }),
    ...(recognition === null ? {} : { recognitionCookie: recognition }),
    ...(cookie === null ? {} : { flowCookies: [cookie] }),
    ...(registration === null ? {} : { registrationCookie: registration }),
  }
}

/** The ticket of a login that waits, where one was shown. */
export function waitingLogin(
  { mfaToken }: { readonly mfaToken?: string | undefined },
  { flowCookies: browserKeys }: Pick<Call<unknown>, 'flowCookies'>,
) {
  return mfaToken === undefined ? null : { mfaToken, browserKeys }
}

/** What a request brings to be known by. */
export function shownRecognition({
  body,
  recognitionCookie: cookie,
}: Pick<Call<{ readonly recognitionId?: string | undefined }>, 'body' | 'recognitionCookie'>) {
  return { cookie, body: body.recognitionId ?? null }
}
