import { diffRevisions } from 'postern/config'
import { isSecretKey } from './environment-texts.ts'
import type { Module, Revision } from './module-types.ts'

/** One line of a difference. The texts are null where there is none. */
export interface ChangedText {
  readonly key: string
  readonly isSecret: boolean
  readonly before: string | null
  readonly after: string | null
}

/** What a revision changed; `before` is the one it replaced, null where that is kept no more. */
export function revisionChanges(
  module: Module,
  revision: Revision,
  before: Revision | null,
): readonly ChangedText[] {
  const named = [...revision.changed, ...revision.removed]
  const secrets = named
    .filter((key) => isSecretKey(module, key))
    .map((key) => ({ key, isSecret: true, before: null, after: null }))
  if (before === null && revision.revision > 1) {
    const texts = named.filter((key) => !isSecretKey(module, key))
    const after = (key: string) => revision.config[key] ?? null
    return [
      ...texts.map((key) => ({ key, isSecret: false, before: null, after: after(key) })),
      ...secrets,
    ]
  }
  const plain = diffRevisions(before?.config ?? {}, revision.config, module.fields).flatMap(
    (change) => (change.secret ? [] : [{ ...change, isSecret: false }]),
  )
  return [...plain, ...secrets]
}
