import type { Operation, SessionWrite } from '../history.js'
import type { Following } from './following.js'
import type { Possible } from './possible.js'

type Write<Kind extends SessionWrite['kind']> = Extract<SessionWrite, { readonly kind: Kind }>

/** Places of an ending, as the model numbers them. */
const toCloseIt = 3

/** What ends sessions and is no request with their refresh token writes here. An ended session is ended already. */
export function endingWrites(
  following: Following,
  { kind, request }: Write<'deny' | 'revoke' | 'close'>,
): void {
  const { steps } = following
  const is = (state: Possible, variable: string) => steps.value(state, variable) > 0
  const take = (state: Possible, name: string) => steps.takeEnding(state, request, name)

  function lists(state: Possible): readonly Possible[] {
    if ((state.enders[request] ?? 0) === 0) {
      return take(state, 'logout puts the session on the denylist')
    }
    const taken = take(state, 'the ending puts the session on the denylist')
    return taken.length === 0 && is(state, 'denied') ? [state] : taken
  }

  /** Where another one died after the row, this one takes up the rest. */
  function closes(state: Possible): readonly Possible[] {
    const isOver = is(state, 'revoked') && is(state, 'denied')
    const enders = isOver ? { ...state.enders, [request]: toCloseIt } : state.enders
    return take({ ...state, enders }, 'the ending closes the document and is answered')
  }

  const byKind = {
    deny: lists,
    revoke: (state: Possible) => take(state, 'the ending revokes the row'),
    close: closes,
  }
  const after = (state: Possible) => (is(state, 'ended') ? [state] : byKind[kind](state))
  following.states = following.states.flatMap(after)
}

/** The user was written: another epoch, or enabled or not. */
export function userWrites(
  following: Following,
  { request, epoch, kept, enabled }: Write<'user'>,
  operation: Operation | null,
): void {
  const { steps, story } = following
  const { session, epoch: own } = story.opened
  const change = (state: Possible) => steps.takeChange(state, request, 'the change writes the user')

  /** Of a session that has ended nothing more is asked. */
  const afterEnd = (state: Possible): readonly Possible[] =>
    steps.value(state, 'ended') > 0
      ? [steps.set(state, { epoch: epoch - own, kept: 0, disabled: enabled ? 0 : 1 })]
      : []

  function raised(state: Possible): readonly Possible[] {
    if (kept === session) {
      const changed = change(state)
      return changed.length > 0 ? changed : afterEnd(state)
    }
    const ended = afterEnd(state)
    if (ended.length > 0) return ended
    const name =
      operation === 'disable' ? 'the user is disabled' : 'sign-out everywhere raises the epoch'
    return steps.takeEnding(state, request, name)
  }

  function after(state: Possible): readonly Possible[] {
    if (epoch - own > steps.value(state, 'epoch')) return raised(state)
    const isDisabled = steps.value(state, 'disabled') > 0
    return enabled && isDisabled ? steps.take(state, 'the user is enabled again') : [state]
  }

  following.states = following.states.flatMap(after)
}

/** A change of the password bars re-issues in the row of the session that it keeps. */
export function barWrites(following: Following, { request, hit }: Write<'bar'>): void {
  const { steps } = following
  const names = hit
    ? ['the change bars re-issues']
    : ['the change finds that the row moved on', 'the change finds the row revoked']
  following.states = following.states.flatMap((state) =>
    names.flatMap((name) => steps.takeChange(state, request, name)),
  )
}

/** A change begins. The model knows one: a later one is judged like the first. */
export function beginChange(following: Following, request: string): void {
  following.changes.add(request)
  const anew = { answered: 0, survivors: 0, before0: 0, before1: 0, early0: 0, early1: 0 }
  following.states = following.states.map((state) =>
    following.steps.value(state, 'answered') > 0 ? following.steps.set(state, anew) : state,
  )
}

/** Its reply. */
export function endChange(following: Following, request: string, isDone: boolean): void {
  if (isDone) {
    const { steps } = following
    following.states = following.states.flatMap((state) => {
      const taken = steps.takeChange(state, request, 'the change is answered')
      // The session that it was to keep has ended meanwhile, and the model with it.
      return taken.length === 0 && steps.value(state, 'ended') > 0 ? [state] : taken
    })
  }
  if ((following.writesToCome.get(request) ?? 0) === 0) following.changes.delete(request)
}
