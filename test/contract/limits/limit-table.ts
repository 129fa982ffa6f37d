// The table of limits: what a request to each route counts as. What stands here is all it uses up; a
// route that is not here, or that has another limit in the operation table, fails the test beside it.

/** Limits of a network address, which requests without an access token count under. */
export const addressLimits = {
  register: 'register',
  login: 'login',
  recovery: 'forgotPassword',
  confirm: 'verifyEmail',
  refresh: 'refresh',
  oauth: 'listOauthProviders',
  'mfa of the address': 'completeLoginMfa',
  grant: 'issueServiceToken',
  jwks: 'getJwks',
  options: 'getOptions',
  logout: 'logout',
} as const

/** Limits of a session, each with a route that asks for it. */
export const sessionLimits = {
  self: 'updateMe',
  change: 'changePassword',
  ending: 'revokeTrustedDevice',
  'mfa of the session': 'removeTotp',
  admin: 'listServiceAccounts',
} as const

export type AddressLimit = keyof typeof addressLimits
export type SessionLimit = keyof typeof sessionLimits
export type Limit = AddressLimit | SessionLimit

/** An enrolment counts for the session, or for the address of a login that lacks a factor. */
const either = ['mfa of the session', 'mfa of the address'] as const

export const countsAs: Readonly<Record<string, readonly Limit[]>> = {
  // Requests of callers who are not signed in.
  register: ['register'],
  verifyEmail: ['confirm'],
  resendEmailVerification: ['recovery'],
  login: ['login'],
  mobileLogin: ['login'],
  forgotPassword: ['recovery'],
  loginCode: ['recovery'],
  loginCodeVerify: ['login'],
  resetPassword: ['confirm'],
  refreshCookie: ['refresh'],
  refresh: ['refresh'],
  getSession: ['refresh'],
  getJwks: ['jwks'],
  getOptions: ['options'],
  completeLoginMfa: ['mfa of the address'],
  startPasskeyLogin: ['mfa of the address'],
  finishPasskeyLogin: ['mfa of the address'],
  listOauthProviders: ['oauth'],
  startOauth: ['oauth'],
  oauthCallback: ['oauth'],
  oauthCallbackFormPost: ['oauth'],
  startMobileOauth: ['oauth'],
  exchangeMobileOauth: ['oauth'],
  issueServiceToken: ['grant'],
  exchangeClientCredentials: ['grant'],
  // Only what does not verify: see the columns of the owner.
  logout: ['logout'],
  // Enrolments.
  enrollTotp: either,
  confirmTotp: either,
  startPasskeyRegistration: either,
  finishPasskeyRegistration: either,
  // Requests of a session.
  getMe: ['self'],
  updateMe: ['self'],
  listSessions: ['self'],
  getMfaStatus: ['self'],
  listPasskeys: ['self'],
  listTrustedDevices: ['self'],
  trustDevice: ['mfa of the session'],
  changePassword: ['change'],
  requestEmailChange: ['change'],
  deleteMe: ['change'],
  startOauthLink: ['change'],
  unlinkOauth: ['change'],
  terminateSession: ['ending'],
  revokeTrustedDevice: ['ending'],
  removeTotp: ['mfa of the session'],
  regenerateBackupCodes: ['mfa of the session'],
  verifyStepUp: ['mfa of the session'],
  deletePasskey: ['mfa of the session'],
  startPasskeyStepUp: ['mfa of the session'],
  // Administration.
  resetUserMfa: ['admin'],
  unlinkUserOauth: ['admin'],
  sendUserPasswordReset: ['admin'],
  resendUserEmailVerification: ['admin'],
  listServiceAccounts: ['admin'],
  createServiceAccount: ['admin'],
  getServiceAccount: ['admin'],
  updateServiceAccount: ['admin'],
  issueServiceCredential: ['admin'],
  revokeServiceCredential: ['admin'],
  listModules: ['admin'],
  getModule: ['admin'],
  updateModule: ['admin'],
  getEnvironment: ['admin'],
  updateEnvironment: ['admin'],
  setActiveEnvironment: ['admin'],
  listEnvironmentRevisions: ['admin'],
}
