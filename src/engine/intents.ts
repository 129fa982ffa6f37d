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
  /**
   * A mailed link that makes an account of an address that has none. What the account is to be signed in to by is
   * judged when it is made.
   */
  register: {
    ...link,
    hangsOn: [],
    boundTo: 'mailbox',
    switchedOff: 'invalid_token',
  },
  /** That a link confirmed an address, for the same browser or app that sends it again. */
  confirmedLink: {
    spent: 'first',
    hangsOn: ['credentials'],
    boundTo: 'browser',
    refusal: 'invalid_token',
    expired: 'invalid_token',
    switchedOff: 'invalid_token',
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
  /** A mailed code that signs in. Its id comes from what the browser or app keeps that asked for it. */
  mailedCode: {
    spent: 'first',
    hangsOn: ['credentials', 'sessions', 'address'],
    boundTo: 'mailbox',
    refusal: 'invalid_credentials',
    expired: 'invalid_credentials',
    switchedOff: 'invalid_credentials',
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

export function rulesOf(kind: IntentKind): IntentRules {
  return intentKinds[kind]
}

/** The counters of an account, each of which grows when what hangs on it is to be void. */
export interface IntentEpochs {
  readonly sessionEpoch: number
  readonly credentialEpoch: number
  readonly deviceEpoch: number
}

/** What an intent says of itself. An epoch is null or left out where it names no account, or its kind does not hang on it. */
export interface IntentFacts {
  readonly sessionEpoch?: number | null
  readonly credentialEpoch?: number | null
  readonly deviceEpoch?: number | null
  /** Unique among all intents: what its effect writes into `lastIntentId` of the user. */
  readonly id: string
  /** The address it was mailed to, canonical; null or left out where that does not count. */
  readonly email?: string | null
  readonly expiresAt: number
}

/** What an account is now. */
export interface IntentAccount extends IntentEpochs {
  readonly kind?: string | null
  readonly email: string
  readonly enabled: boolean
  readonly lastIntentId: string | null
  /** The login that waits and that the newest end of all sessions spared. */
  readonly keptIntentId: string | null
}

/** What is the case now. */
export interface IntentState {
  /** Null where there is none; left out for an intent that names no account. */
  readonly account?: IntentAccount | null
  readonly isSessionOpen: boolean
  readonly isIdentityGood: boolean
  readonly lacksFactor: boolean
  readonly isOn: Readonly<Record<IntentSwitch, boolean>>
}

/**
 * - `good`: all it was granted on still holds
 * - `interrupted`: its effect is written, and the rest of its request is to be done
 * - `void`, `expired`, `switchedOff`: nothing comes of it
 */
export type IntentVerdict = 'good' | 'interrupted' | 'void' | 'expired' | 'switchedOff'

const states: readonly IntentCondition[] = [
  ...(['credentials', 'sessions', 'factors', 'lacksFactor'] as const),
  ...(['address', 'session', 'identity'] as const),
]

/**
 * True if the last intent that had an effect on the account is this one, and nothing that it hangs on changed since. Each
 * effect moves an epoch once at most. The epoch of factors may have moved before the effect where the kind does not hang
 * on them: a sign-out everywhere leaves a mailed link good.
 */
function isWritten({ hangsOn }: IntentRules, intent: IntentFacts, account: IntentAccount): boolean {
  // As it was, or moved once. An intent may leave an epoch out.
  const isNear = (epoch: 'credentialEpoch' | 'deviceEpoch') =>
    [undefined, null, account[epoch], account[epoch] - 1].includes(intent[epoch])
  return (
    account.lastIntentId === intent.id &&
    isNear('credentialEpoch') &&
    (!hangsOn.includes('factors') || isNear('deviceEpoch'))
  )
}

/** A login that waits was what ended all sessions: by the factor that it added itself. */
function isSpared({ id, sessionEpoch }: IntentFacts, account?: IntentAccount | null): boolean {
  return (
    typeof sessionEpoch === 'number' &&
    account?.keptIntentId === id &&
    account.sessionEpoch === sessionEpoch + 1
  )
}

function holds(condition: IntentCondition, intent: IntentFacts, state: IntentState): boolean {
  const { account } = state
  switch (condition) {
    case 'credentials':
      return account?.credentialEpoch === intent.credentialEpoch
    case 'sessions':
      return account?.sessionEpoch === intent.sessionEpoch || isSpared(intent, account)
    case 'factors':
      return account?.deviceEpoch === intent.deviceEpoch
    case 'address':
      return account?.email === intent.email
    case 'session':
      return state.isSessionOpen
    case 'lacksFactor':
      return state.lacksFactor
    case 'identity':
      return state.isIdentityGood
    default:
      return state.isOn[condition]
  }
}

/** Whether an intent may still have its effect. A switch is looked at last: it tells only a holder. */
export function judgeIntent(
  rules: IntentRules,
  intent: IntentFacts,
  state: IntentState,
  now: number,
): IntentVerdict {
  const { account } = state
  if (account === null) return 'void'
  if (account !== undefined && (!account.enabled || (account.kind ?? '') !== '')) return 'void'
  if (intent.expiresAt <= now) return 'expired'
  if (account !== undefined && isWritten(rules, intent, account)) return 'interrupted'
  const broken = rules.hangsOn.filter((condition) => !holds(condition, intent, state))
  if (broken.length === 0) return 'good'
  return broken.every((condition) => !states.includes(condition)) ? 'switchedOff' : 'void'
}
