import type { Call, Model } from './checker.js'

/** What clients do to one login's refresh tokens and session. */
export type FamilyOp =
  | { readonly kind: 'refresh' | 'session'; readonly generation: number }
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
      dead: false,
      endedBy: Number.POSITIVE_INFINITY,
      rotatedFrom: Number.NEGATIVE_INFINITY,
      rotatedUntil: Number.NEGATIVE_INFINITY,
    },
    key: ({ current, dead, endedBy, rotatedFrom }) =>
      [current, dead, endedBy, rotatedFrom].join(' '),
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
  if (result.kind === 'refused') return refused(rules, state, call, op.generation, result.code)
  return accepted(rules, state, call, op, result)
}

function accepted(
  rules: FamilyRules,
  state: FamilyState,
  call: FamilyCall,
  op: { readonly kind: 'refresh' | 'session'; readonly generation: number },
  result: Exclude<FamilyResult, { kind: 'refused' }>,
): readonly FamilyState[] {
  if (state.dead || call.invokedAt > rules.capAt + blur) return []
  const isCurrent = op.generation === state.current
  const isPredecessor = op.generation === state.current - 1 && mayBeInside(rules, state, call)
  switch (result.kind) {
    case 'rotated':
      return isCurrent && result.generation === state.current + 1 ? [rotated(state, call)] : []
    case 'reissued':
      return isPredecessor && result.generation === state.current ? [state] : []
    case 'done':
      return op.kind === 'session' && (isCurrent || isPredecessor) ? [state] : []
  }
}

function refused(
  rules: FamilyRules,
  state: FamilyState,
  call: FamilyCall,
  generation: number,
  code: string,
): readonly FamilyState[] {
  switch (code) {
    case 'refresh_token_reused':
      return mayAlarm(rules, state, call, generation) ? [ended(state, call)] : []
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
  const endings = mayBeReplay(rules, state, call, op.generation) || mayBeOverCap(rules, call)
  const rotates = op.kind === 'refresh' && op.generation === state.current
  return [...(rotates ? [rotated(state, call)] : []), ...(endings ? [ended(state, call)] : [])]
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
function mayAlarm(
  rules: FamilyRules,
  state: FamilyState,
  call: FamilyCall,
  generation: number,
): boolean {
  return call.invokedAt <= state.endedBy && mayBeReplay(rules, state, call, generation)
}

function rotated(state: FamilyState, call: FamilyCall): FamilyState {
  const { invokedAt, returnedAt } = call
  // The row says what time it was when the write was sent, however late it arrived: so no later
  // than an answer that came, be it "unknown".
  return { ...state, current: state.current + 1, rotatedFrom: invokedAt, rotatedUntil: returnedAt }
}

/** The call may have been judged less than the grace after the rotation. */
function mayBeInside({ graceMs }: FamilyRules, state: FamilyState, call: FamilyCall): boolean {
  return graceMs > 0 && call.invokedAt - state.rotatedUntil < graceMs + blur
}

function mayBeReplay(
  { graceMs }: FamilyRules,
  state: FamilyState,
  call: FamilyCall,
  generation: number,
): boolean {
  const behind = state.current - generation
  if (behind !== 1) return behind > 1
  return graceMs === 0 || call.returnedAt - state.rotatedFrom >= graceMs - blur
}

function mayBeOverCap({ capAt }: FamilyRules, call: FamilyCall): boolean {
  return call.returnedAt >= capAt - blur
}
