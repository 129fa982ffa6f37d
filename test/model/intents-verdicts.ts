import {
  type IntentKind,
  type IntentRules,
  judgeIntent,
  rulesOf,
} from '../../src/engine/intents.js'
import { decisionTree, type Input } from './spin/decision-tree.js'

/** What decides about intents. */
export interface Law {
  readonly judge: typeof judgeIntent
  readonly rules: (kind: IntentKind) => IntentRules
}

export const law: Law = { judge: judgeIntent, rules: rulesOf }

const verdicts = ['good', 'interrupted', 'void', 'expired', 'switchedOff'] as const
const verdictName = (verdict: string): string => `judged_${verdict}`
export const verdictNames = verdicts.map(verdictName)

/** Who wrote `lastIntentId` of the user last. */
export const effects = [
  'noEffect',
  'linkEffect',
  'enrolment0',
  'enrolment1',
  'otherEffect',
] as const

const now = 1_000_000
const most = 2
const epochs = Array.from({ length: most + 1 }, (_, epoch) => epoch)

/** How far an epoch went since the intent began, as far as it makes a difference. */
const since = (epoch: string, seen: string): Input => ({
  expression: `(${epoch} - ${seen} > ${most} -> ${most} : ${epoch} - ${seen})`,
  values: epochs,
})
const flag = (expression: string): Input => ({ expression, values: [0, 1] })

/** One intent: its kind, the epochs it saw, and what else can be wrong with it. */
interface Asked {
  readonly kind: IntentKind
  /** Who the user is told it was by, where its effect is written. */
  readonly effect: (typeof effects)[number] | null
  readonly seen: {
    readonly credential: string
    readonly session: string
    readonly device: string
  }
  /** True where the account has a factor that the login did not add. */
  readonly hasFactor: string
}

/** `judgeIntent` with the row of the kind, asked about everything that can have become of the account. */
function verdictOf({ judge, rules }: Law, { kind, effect, seen, hasFactor }: Asked): string {
  const inputs = [
    flag('disabled'),
    flag('expired'),
    flag(effect === null ? '0' : `(last == ${effect})`),
    since('credential', seen.credential),
    since('session', seen.session),
    since('device', seen.device),
    flag('moved'),
    flag('off'),
    flag(hasFactor),
  ]
  return decisionTree(inputs, (values) => {
    const [disabled, expired, isLast, credentials = 0, sessions = 0, factors = 0, ...rest] = values
    const [moved, off, has] = rest
    const epochsThen = { credentialEpoch: 5, sessionEpoch: 5, deviceEpoch: 5 }
    const email = 'ada@example.org'
    const intent = { id: 'own', email, ...epochsThen, expiresAt: expired === 1 ? now : now + 1 }
    const isOn = off !== 1
    const state = {
      account: {
        email: moved === 1 ? 'ada@example.net' : email,
        enabled: disabled !== 1,
        lastIntentId: isLast === 1 ? 'own' : 'other',
        keptSessionId: null,
        credentialEpoch: 5 + credentials,
        sessionEpoch: 5 + sessions,
        deviceEpoch: 5 + factors,
      },
      isSessionOpen: true,
      isIdentityGood: true,
      lacksFactor: has !== 1,
      isOn: {
        ...{ password: isOn, provider: isOn, loginMethod: isOn },
        ...{ totp: isOn, passkeys: isOn, passwordless: isOn },
      },
    }
    return verdictName(judge(rules(kind), intent, state, now))
  })
}

const atFirst = { credential: '0', session: '0', device: '0' }
const anyFactor = '(factor0 || factor1)'

/** What is decided about each intent, by name. */
export function verdictDefinitions(by: Law): Readonly<Record<string, string>> {
  const enrolment = (n: 0 | 1) => ({
    effect: n === 0 ? ('enrolment0' as const) : ('enrolment1' as const),
    seen: { credential: `seenCredential${n}`, session: '0', device: `seenDevice${n}` },
    hasFactor: '0',
  })
  const lacking = { kind: 'enrollment', effect: null, seen: atFirst } as const
  return {
    linkVerdict: verdictOf(by, {
      ...{ kind: 'resetPassword', effect: 'linkEffect', seen: atFirst, hasFactor: '0' },
    }),
    ticketVerdict: verdictOf(by, {
      ...{ kind: 'secondFactor', effect: null, seen: atFirst, hasFactor: '0' },
    }),
    enrolmentVerdict0: verdictOf(by, { kind: 'totpEnrollment', ...enrolment(0) }),
    enrolmentVerdict1: verdictOf(by, { kind: 'passkeyRegistration', ...enrolment(1) }),
    // The account is read before the factors are looked for.
    accountVerdict: verdictOf(by, { ...lacking, hasFactor: '0' }),
    lackingVerdict: verdictOf(by, { ...lacking, hasFactor: anyFactor }),
    ownFactorVerdict0: verdictOf(by, {
      ...{ ...lacking, hasFactor: `(${anyFactor} && last != enrolment0)` },
    }),
    ownFactorVerdict1: verdictOf(by, {
      ...{ ...lacking, hasFactor: `(${anyFactor} && last != enrolment1)` },
    }),
  }
}
