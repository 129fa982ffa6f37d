import type { Answer } from '../ports/backend.js'

/** The answer of a call that waits for nothing. */
export function answered<T>(value: T): Answer<T> {
  const answer: Answer<T> & { atOnce?: { readonly value: T } } = Promise.resolve(value)
  answer.atOnce = { value }
  return answer
}
