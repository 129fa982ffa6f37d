import type { IntentCondition, IntentRules, IntentSwitch } from './intent-kinds.js'

/** The counters of an account, each of which grows when what hangs on it is to be void. */
export interface IntentEpochs {
  readonly sessionEpoch: number
  readonly credentialEpoch: number
  readonly deviceEpoch: number
}

/** What an intent says of itself. An epoch that its kind does not hang on may be left out. */
export interface IntentFacts extends Partial<IntentEpochs> {
  /** Unique among all intents: what its effect writes into `lastIntentId` of the user. */
  readonly id: string
  /** The address it was mailed to, canonical; left out where that does not count. */
  readonly email?: string
  readonly expiresAt: number
}

/** What an account is now. */
export interface IntentAccount extends IntentEpochs {
  readonly kind?: string | null
  readonly email: string
  readonly enabled: boolean
  readonly lastIntentId: string | null
  /** What the newest end of all sessions spared: the id of a session, or of a login that waits. */
  readonly keptSessionId: string | null
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
    [undefined, account[epoch], account[epoch] - 1].includes(intent[epoch])
  return (
    account.lastIntentId === intent.id &&
    isNear('credentialEpoch') &&
    (!hangsOn.includes('factors') || isNear('deviceEpoch'))
  )
}

/** A login that waits was what ended all sessions: by the factor that it added itself. */
function isSpared({ id, sessionEpoch }: IntentFacts, account?: IntentAccount | null): boolean {
  return (
    sessionEpoch !== undefined &&
    account?.keptSessionId === id &&
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
