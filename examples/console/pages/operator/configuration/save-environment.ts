import { isPosternError } from 'postern/client'
import { isAborted } from '../../shared/action-button.ts'
import { problemText } from '../../shared/problem-text.ts'
import type { OperatorContext } from '../operator-page.ts'
import { askConflicts } from './conflict-dialog.ts'
import { createDraft, type Draft } from './draft.ts'
import type { Editor } from './editor.ts'
import { nameOf, textsOf } from './environment-texts.ts'
import { joinEdits, rebaseEdits } from './rebase-edits.ts'

/** What a save came to. */
export type Saved =
  | { readonly kind: 'saved'; readonly draft: Draft }
  /** The same edits, on the state that another operator left. They are still to be saved. */
  | { readonly kind: 'rebased'; readonly draft: Draft; readonly text: string }
  | { readonly kind: 'refused'; readonly key: string | null; readonly text: string }
  | { readonly kind: 'aborted' }

/** Saves a draft. Where its environment was changed meanwhile, the operator is asked what is to stand. */
export async function saveEnvironment(
  { operator }: Pick<OperatorContext, 'operator'>,
  { module, draft, places }: Editor,
): Promise<Saved> {
  const path = { name: module.name, env: draft.base.environment }
  try {
    const saved = await operator.call('PATCH /v1/admin/modules/{name}/environments/{env}', {
      ...path,
      ...draft.patch(),
    })
    return { kind: 'saved', draft: createDraft(saved) }
  } catch (error) {
    if (isAborted(error)) return { kind: 'aborted' }
    const problem = isPosternError(error) && error.kind === 'problem' ? error : null
    if (problem?.status === 409) return rebased(operator, module, draft)
    // A validator of the host names the key in its sentence alone.
    const key = problem?.field ?? places.keyIn(problem?.detail ?? '')
    return { kind: 'refused', key, text: problem?.detail || problemText(error) }
  }
}

async function rebased(
  operator: OperatorContext['operator'],
  module: Editor['module'],
  draft: Draft,
): Promise<Saved> {
  const path = { name: module.name, env: draft.base.environment }
  const [now, history] = await Promise.all([
    operator.call('GET /v1/admin/modules/{name}/environments/{env}', path),
    operator.call('GET /v1/admin/modules/{name}/environments/{env}/revisions', path),
  ])
  const later = history.items.filter(({ revision }) => revision > draft.base.revision)
  const touched = new Set(later.flatMap(({ changed, removed }) => [...changed, ...removed]))
  const { kept, conflicts } = rebaseEdits(draft.base, draft.edits(), { now, touched })
  const names = new Map([...textsOf(draft.base), ...textsOf(now), ...draft.edits().texts])
  const won =
    conflicts.length === 0
      ? []
      : await askConflicts({ module, conflicts, nameOf: (key) => nameOf(module, names, key) })
  if (won === null) return { kind: 'aborted' }
  const edits = joinEdits([kept, ...won.map(({ keepMine }) => keepMine)])
  return {
    kind: 'rebased',
    draft: createDraft(now, edits),
    text: `Revision ${now.revision} was saved meanwhile, and you see it now.`,
  }
}
