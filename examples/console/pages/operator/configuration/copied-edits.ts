import type { Edits } from './draft.ts'
import { slugsOf, textsOf } from './environment-texts.ts'
import type { Environment } from './module-types.ts'

/** The edits that make an environment like another, but for the secrets, which no reply tells. */
export function copiedEdits(to: Environment, from: Environment): Edits {
  const wanted = textsOf(from)
  const present = textsOf(to)
  const texts = new Map([...wanted].filter(([key, text]) => present.get(key) !== text))
  const isPlain = (key: string) => !key.includes('.')
  // What the other one leaves at its default.
  for (const [key, text] of present) {
    if (isPlain(key) && !wanted.has(key) && text !== '') texts.set(key, '')
  }
  const created = new Map<string, ReadonlySet<string>>()
  const removed = new Map<string, ReadonlySet<string>>()
  for (const { field } of from.recordLists) {
    const [there, here] = [slugsOf(from, field), slugsOf(to, field)]
    created.set(field, new Set(there.filter((slug) => !here.includes(slug))))
    removed.set(field, new Set(here.filter((slug) => !there.includes(slug))))
  }
  return { texts, created, removed }
}
