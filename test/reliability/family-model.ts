import type { Call, Model } from './checker.js'

/** A refresh token that is shown; `known` with the recognition id of its login. */
interface Shown {
  readonly kind: 'refresh' | 'session'
  readonly generation: number
  readonly known: boolean
}

/** What clients do to one login's refresh tokens and session. */
export type FamilyOp =
  | Shown
  | { readonly kind: 'access' }
  | { readonly kind: 'logout' | 'logoutEverywhere' | 'terminate' | 'terminateAll' | 'disable' }

/** What they were told. `generation` is that of the token they got. */
export type FamilyResult =
  | { readonly kind: 'rotated' | 'reissued'; readonly generation: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly code: string }

export type FamilyCall = Call<FamilyOp, FamilyResult>

export interface FamilyState {
  /** The generation of the newest token. */
  readonly current: number
  /** The highest generation noted as presented, and whether the newest rotation came with the recognition id. */
  readonly shown: number
  readonly byDevice: boolean
  readonly dead: boolean
  /** When the first answer that confirmed the end arrived: from then on the row says so as well. */
  readonly endedBy: number
  /** The last rotation took place between these two times. */
  readonly rotatedFrom: number
  readonly rotatedUntil: number
}

export interface FamilyRules {
  /** Milliseconds; 0 = strict. */
  readonly graceMs: number
  /** From then on a refresh ends the session for its age. */
  readonly capAt: number
  /** The generation of the token the history begins with. */
  readonly generation: number
}

/** Clocks show whole milliseconds: an edge is known to one on either side. */
const blur = 2

/**
 * One refresh family as decided: one write rotates; the predecessor is re-issued within the grace
 * measured from the rotation; what is older or later is replay and ends everything; an ended
 * session stays ended. Times are those of the replicas' clocks, which agree.
 */
export function familyModel(rules: FamilyRules): Model<FamilyState, FamilyCall> {
  return {
    initial: {
      current: rules.generation,
      shown: rules.generation - 1,
      byDevice: false,
      dead: false,
      endedBy: Number.POSITIVE_INFINITY,
      rotatedFrom: Number.NEGATIVE_INFINITY,
      rotatedUntil: Number.NEGATIVE_INFINITY,
    },
    key: ({ current, shown, byDevice, dead, endedBy, rotatedFrom }) =>
      [current, shown, byDevice, dead, endedBy, rotatedFrom].join(' '),
    after: (state, call) => (call.result === null ? unanswered : answered)(rules, state, call),
  }
}

type Step = (rules: FamilyRules, state: FamilyState, call: FamilyCall) => readonly FamilyState[]

const answered: Step = (rules, state, call) => {
  const { op, result } = call
  if (result === null) return []
  if (op.kind === 'access') {
    const legal = result.kind === 'done' ? !state.dead : state.dead
    return legal ? [state] : []
  }
  if (op.kind !== 'refresh' && op.kind !== 'session') return [ended(state, call)]
  if (result.kind === 'refused') return refused(rules, state, call, op, result.code)
  return accepted(rules, state, call, op, result)
}

function accepted(
  rules: FamilyRules,
  state: FamilyState,
  call: FamilyCall,
  op: Shown,
  result: Exclude<FamilyResult, { kind: 'refused' }>,
): readonly FamilyState[] {
  if (state.dead || call.invokedAt > rules.capAt + blur) return []
  const isCurrent = op.generation === state.current
  const isLate = isLateRotation(state, op) && mayBeOutside(rules, state, call)
  const isReissued = isAnswerable(state, op) && mayBeInside(rules, state, call)
  if (result.kind === 'done') return viewed(state, op, isReissued || isLate)
  const isRotated = result.kind === 'rotated'
  const isLegal = isRotated ? isCurrent || isLate : isReissued
  if (!isLegal || result.generation !== state.current + Number(isRotated)) return []
  return [isRotated ? rotated(state, call, op) : state]
}

/** `isRetired`: a refresh would be answered for this token, although it was replaced. */
function viewed(state: FamilyState, op: Shown, isRetired: boolean): readonly FamilyState[] {
  if (op.kind !== 'session') return []
  if (op.generation === state.current) return [state, noted(state)]
  return isRetired ? [state] : []
}

function refused(
  rules: FamilyRules,
  state: FamilyState,
  call: FamilyCall,
  op: Shown,
  code: string,
): readonly FamilyState[] {
  switch (code) {
    case 'refresh_token_reused':
      return mayAlarm(rules, state, call, op) ? [ended(state, call)] : []
    case 'session_max_age_reached':
      if (state.dead) return [state]
      return mayBeOverCap(rules, call) ? [ended(state, call)] : []
    case 'session_revoked':
      return state.dead ? [state] : []
    default:
      return []
  }
}

/** Only what a call may have changed; having had no effect is the checker's business. */
const unanswered: Step = (rules, state, call) => {
  const { op } = call
  if (state.dead || op.kind === 'access') return []
  if (op.kind !== 'refresh' && op.kind !== 'session') return [ended(state, call)]
  const endings = mayBeReplay(rules, state, call, op) || mayBeOverCap(rules, call)
  const isCurrent = op.generation === state.current
  const rotates =
    op.kind === 'refresh' &&
    (isCurrent || (isLateRotation(state, op) && mayBeOutside(rules, state, call)))
  return [
    ...(rotates ? [rotated(state, call, op)] : []),
    ...(op.kind === 'session' && isCurrent ? [noted(state)] : []),
    ...(endings ? [ended(state, call)] : []),
  ]
}

function ended(state: FamilyState, { returnedAt, result }: FamilyCall): FamilyState {
  const confirmed = result === null ? Number.POSITIVE_INFINITY : returnedAt
  return { ...state, dead: true, endedBy: Math.min(state.endedBy, confirmed) }
}

/**
 * Replay raises its alarm also where an ending was begun and nobody finished it. A family alarms once, and no request that
 * began after that answer does so again. Of requests that were under way together a second one may: the counter that
 * chooses one of them may fail, and then each process counts for itself.
 */
function mayAlarm(rules: FamilyRules, state: FamilyState, call: FamilyCall, op: Shown): boolean {
  return call.invokedAt <= state.endedBy && mayBeReplay(rules, state, call, op)
}

/** The predecessor, or what was shown last: answered within the grace. */
const isAnswerable = ({ current, shown }: FamilyState, { generation }: Shown): boolean =>
  generation === current - 1 || (generation === shown && generation < current)

/** Answered after the grace. */
const isLateRotation = ({ current, shown, byDevice }: FamilyState, op: Shown): boolean =>
  op.generation === shown && op.generation < current && byDevice && op.known

const noted = (state: FamilyState): FamilyState => ({ ...state, shown: state.current })

function rotated(state: FamilyState, call: FamilyCall, { generation, known }: Shown): FamilyState {
  const { invokedAt, returnedAt } = call
  // The row says what time it was when the write was sent, however late it arrived: so no later
  // than an answer that came, be it "unknown".
  const next = { current: state.current + 1, shown: generation, byDevice: known }
  return { ...state, ...next, rotatedFrom: invokedAt, rotatedUntil: returnedAt }
}

/** The call may have been judged less than the grace after the rotation. */
function mayBeInside({ graceMs }: FamilyRules, state: FamilyState, call: FamilyCall): boolean {
  return graceMs > 0 && call.invokedAt - state.rotatedUntil < graceMs + blur
}

/** The call may have been judged the grace after the rotation, or later. */
function mayBeOutside({ graceMs }: FamilyRules, state: FamilyState, call: FamilyCall): boolean {
  return graceMs > 0 && call.returnedAt - state.rotatedFrom >= graceMs - blur
}

function mayBeReplay(rules: FamilyRules, state: FamilyState, call: FamilyCall, op: Shown): boolean {
  if (op.generation >= state.current) return false
  if (rules.graceMs === 0 || !isAnswerable(state, op)) return true
  return mayBeOutside(rules, state, call) && !isLateRotation(state, op)
}

function mayBeOverCap({ capAt }: FamilyRules, call: FamilyCall): boolean {
  return call.returnedAt >= capAt - blur
}
