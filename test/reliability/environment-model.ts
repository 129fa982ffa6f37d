import type { Call, Model } from './checker.js'

/** What clients do to one environment. */
export type EnvironmentOp =
  | { readonly kind: 'read' }
  | { readonly kind: 'set'; readonly text: string; readonly revision?: number }
  /** Sets a secret, of which no answer shows more than a new revision. */
  | { readonly kind: 'seal'; readonly text: string; readonly revision?: number }
  | { readonly kind: 'add'; readonly slug: string; readonly revision?: number }
  | { readonly kind: 'remove'; readonly slug: string; readonly revision: number }

/** The environment as a reply shows it. */
export interface EnvironmentState {
  readonly revision: number
  readonly text: string
  readonly roster: readonly string[]
}

export type EnvironmentResult =
  | { readonly kind: 'seen'; readonly state: EnvironmentState }
  | { readonly kind: 'refused'; readonly code: string }

export type EnvironmentCall = Call<EnvironmentOp, EnvironmentResult>

/**
 * One environment as decided: every edit raises the revision by one, a stated revision is a
 * contract, an element is created once, and what an answer shows is what was written.
 */
export const environmentModel: Model<EnvironmentState, EnvironmentCall> = {
  initial: { revision: 1, text: '', roster: [] },
  key: ({ revision, text, roster }) => `${revision} ${text} ${roster.join()}`,
  after(state, { op, result }) {
    const next = op.kind === 'read' ? state : edited(state, op)
    if (result === null) return typeof next === 'string' ? [] : [next]
    if (typeof next === 'string') {
      return result.kind === 'refused' && result.code === next ? [state] : []
    }
    return result.kind === 'seen' && isSame(next, result.state) ? [next] : []
  },
}

/** The next state, or the code it is refused with. */
function edited(
  { revision, text, roster }: EnvironmentState,
  op: Exclude<EnvironmentOp, { kind: 'read' }>,
): EnvironmentState | string {
  if (op.revision !== undefined && op.revision !== revision) return 'config.revision_conflict'
  const next = { revision: revision + 1, text, roster }
  if (op.kind === 'set') return { ...next, text: op.text }
  if (op.kind === 'seal') return next
  if ((op.kind === 'add') === roster.includes(op.slug)) return 'config.roster_conflict'
  return op.kind === 'add'
    ? { ...next, roster: [...roster, op.slug] }
    : { ...next, roster: roster.filter((slug) => slug !== op.slug) }
}

function isSame(one: EnvironmentState, other: EnvironmentState): boolean {
  return environmentModel.key(one) === environmentModel.key(other)
}
