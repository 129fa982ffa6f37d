import type { ErrorCode } from '../errors/index.js'

/** What has to hold, from the start of an intent to its effect, beside an enabled account. */
export type IntentCondition =
  /** No password, address or standing changed. */
  | 'credentials'
  /** The sessions of the account were not all ended. */
  | 'sessions'
  /** No factor came or went, and no password changed. */
  | 'factors'
  /** The account has no factor, but for one that this very login added. */
  | 'lacksFactor'
  /** The account has the address that the link was mailed to. */
  | 'address'
  /** The session that it began in goes on. */
  | 'session'
  /**
   * For a login that came by a provider: the account there is linked, and the code of an app did not
   * come again.
   */
  | 'identity'
  /** The method is switched on. */
  | IntentSwitch

/** What an administrator can switch off while people are on their way. */
export type IntentSwitch =
  | 'password'
  /** The provider that it leads to. */
  | 'provider'
  /** The method that the login began with: passwords, or the provider. */
  | 'loginMethod'
  | 'totp'
  | 'passkeys'
  | 'passwordless'

export interface IntentRules {
  /**
   * `first`: it is taken before its effect, so that a crash in between costs a new start and gives
   * nothing away. `last`: it is taken after its effect, which names it in `lastIntentId` of the user, so
   * that the same request again completes what was cut short.
   */
  readonly spent: 'first' | 'last'
  readonly hangsOn: readonly IntentCondition[]
  /** What has to come with it. */
  readonly boundTo: 'nothing' | 'mailbox' | 'asker' | 'browser' | 'verifier' | 'session' | 'login'
  /** The answer whatever is wrong with it, … */
  readonly refusal: ErrorCode
  /** … but for one that came too late, … */
  readonly expired: ErrorCode
  /** … or whose method was switched off meanwhile. */
  readonly switchedOff: ErrorCode
}

const link = { spent: 'last', refusal: 'invalid_token', expired: 'token_expired' } as const
const halfDone = {
  spent: 'first',
  refusal: 'mfa_ticket_invalid',
  expired: 'mfa_ticket_invalid',
  switchedOff: 'mfa_ticket_invalid',
} as const
const flow = {
  spent: 'first',
  refusal: 'invalid_oauth_state',
  expired: 'invalid_oauth_state',
  switchedOff: 'oauth_provider_disabled',
} as const
const factor = { spent: 'first', switchedOff: 'mfa_method_disabled' } as const
const wrongCode = { refusal: 'invalid_mfa_code', expired: 'invalid_mfa_code' } as const

/**
 * Everything that starts in one request and ends in another. An intent made from an intent inherits its
 * conditions: one that is bound to a login is judged together with that login.
 */
export const intentKinds = {
  /** A mailed link that confirms an address. */
  verifyEmail: {
    ...link,
    hangsOn: ['credentials', 'address'],
    boundTo: 'mailbox',
    switchedOff: 'invalid_token',
  },
  /** A mailed link that makes an account of an address that has none. */
  register: {
    ...link,
    hangsOn: ['password'],
    boundTo: 'mailbox',
    switchedOff: 'password_login_disabled',
  },
  /** A mailed link that moves an account to another address. */
  changeEmail: {
    ...link,
    hangsOn: ['credentials', 'sessions', 'factors'],
    boundTo: 'asker',
    switchedOff: 'invalid_token',
  },
  /** A mailed link that replaces the password. To end all sessions must not void the way back in. */
  resetPassword: {
    ...link,
    hangsOn: ['credentials', 'address', 'password'],
    boundTo: 'mailbox',
    switchedOff: 'password_login_disabled',
  },
  /** A login whose password is too old, and what it is to be replaced with. */
  expiredPassword: {
    ...link,
    hangsOn: ['credentials', 'sessions', 'factors', 'password'],
    boundTo: 'nothing',
    switchedOff: 'password_login_disabled',
  },
  /** A login that waits for its second factor. */
  secondFactor: {
    ...halfDone,
    hangsOn: ['credentials', 'sessions', 'factors', 'identity', 'loginMethod'],
    boundTo: 'browser',
  },
  /** A login that waits until the account has a second factor. */
  enrollment: {
    ...halfDone,
    hangsOn: ['credentials', 'sessions', 'lacksFactor', 'identity', 'loginMethod'],
    boundTo: 'browser',
  },
  /** A browser on its way to a provider and back. */
  oauthWeb: { ...flow, hangsOn: ['provider'], boundTo: 'browser' },
  /** An app on its way to a provider and back; the code that it gets is bound to its verifier. */
  oauthApp: { ...flow, hangsOn: ['provider'], boundTo: 'nothing' },
  /** A signed-in user on the way to a provider, to link an account there. */
  oauthLink: {
    ...flow,
    hangsOn: ['credentials', 'factors', 'session', 'provider'],
    boundTo: 'browser',
    refusal: 'oauth_failed',
  },
  /**
   * An account at a provider whose sign-in bounced, offered to the session that the user whose address
   * it was opened then.
   */
  linkOffer: {
    spent: 'first',
    hangsOn: ['credentials', 'factors', 'address', 'session', 'provider'],
    boundTo: 'session',
    refusal: 'link_not_offered',
    expired: 'link_not_offered',
    switchedOff: 'oauth_provider_disabled',
  },
  /** A code that an app exchanges for its login. */
  appCode: {
    spent: 'first',
    hangsOn: ['credentials', 'sessions', 'identity', 'loginMethod'],
    boundTo: 'verifier',
    refusal: 'invalid_token',
    expired: 'invalid_token',
    switchedOff: 'oauth_provider_disabled',
  },
  /** A challenge for a passkey in place of both factors. Whose it is, the response says. */
  passkeyLogin: {
    ...factor,
    hangsOn: ['passwordless'],
    boundTo: 'nothing',
    refusal: 'invalid_credentials',
    expired: 'invalid_credentials',
  },
  /** A challenge for a passkey behind a first factor. */
  passkeySecondFactor: {
    ...factor,
    ...wrongCode,
    hangsOn: ['credentials', 'factors'],
    boundTo: 'login',
  },
  /** A challenge for a new passkey. */
  passkeyRegistration: {
    ...factor,
    hangsOn: ['credentials', 'factors', 'passkeys'],
    boundTo: 'session',
    refusal: 'webauthn_failed',
    expired: 'webauthn_failed',
  },
  /** A challenge for a passkey within a session. */
  passkeyStepUp: {
    ...factor,
    ...wrongCode,
    hangsOn: ['credentials', 'factors'],
    boundTo: 'session',
  },
  /** A secret of an authenticator app that waits for its first code; it is taken by becoming a factor. */
  totpEnrollment: {
    ...factor,
    ...wrongCode,
    hangsOn: ['credentials', 'factors', 'totp'],
    boundTo: 'session',
  },
} as const satisfies Record<string, IntentRules>

export type IntentKind = keyof typeof intentKinds

/** The kinds that are taken before their effect, or after it; `IntentJudge` has a method for either. */
export type KindSpent<S extends IntentRules['spent']> = {
  [K in IntentKind]: (typeof intentKinds)[K]['spent'] extends S ? K : never
}[IntentKind]

export function rulesOf(kind: IntentKind): IntentRules {
  return intentKinds[kind]
}
