import { StoreAnswerError } from '../errors/index.js'
import type { CounterResult, DenylistEntry, LeaseRecord } from '../ports/backend.js'
import type { Doc, SweepResult } from '../ports/store.js'

// What a backend answers is what an adapter without types may answer. Each function gives the answer back, or throws.

function judged<T>(isRight: boolean, answer: T, wanted: string): T {
  if (isRight) return answer
  throw new StoreAnswerError(wanted)
}

type Named = { readonly [name in 'id' | 'reason' | 'expiresAt']?: unknown }

function isObject(value: unknown): value is Named {
  return typeof value === 'object' && value !== null
}

/** A number of what was counted, or a time. */
function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

/** Services test for null: `undefined` for a document that is not there would pass for one that is. */
export function documentOf<T extends Doc>(id: string, answer: T | null): T | null {
  const isRight = answer === null || (isObject(answer) && answer.id === id)
  return judged(isRight, answer, 'the answer is the document with the id asked for, or null')
}

export function documentsOf<T extends Doc>(limit: number, answer: readonly T[]): readonly T[] {
  if (!Array.isArray(answer)) throw new StoreAnswerError('the answer is a list')
  if (answer.length > limit) throw new StoreAnswerError('the list is no longer than its limit')
  const areRight = answer.every((doc: unknown) => isObject(doc) && typeof doc.id === 'string')
  return judged(areRight, answer, 'what is listed are documents, each with a text as its id')
}

export function textsOf(answer: readonly string[]): readonly string[] {
  const isRight = Array.isArray(answer) && answer.every((one: unknown) => typeof one === 'string')
  return judged(isRight, answer, 'the answer is a list of texts')
}

/** A driver's count of rows, or its result as a whole, is not the word of the port. */
export function decided(answer: boolean): boolean {
  return judged(typeof answer === 'boolean', answer, 'the answer is true or false')
}

export function decidedEach(count: number, answers: readonly boolean[]): readonly boolean[] {
  const areRight = Array.isArray(answers) && answers.length === count
  judged(areRight, answers, 'there is an answer for each document').forEach(decided)
  return answers
}

/** Each with one of the values, and no two with the same: the field is unique. */
export function foundAmong<T extends Doc>(
  field: keyof T & string,
  values: readonly string[],
  answer: readonly T[],
): readonly T[] {
  const found = documentsOf(values.length, answer)
  const wanted = new Set<unknown>(values)
  const areRight = found.every((doc) => wanted.delete(doc[field]))
  return judged(areRight, found, 'what is listed has the values asked for, each once')
}

export function counted(answer: CounterResult): CounterResult {
  const isRight =
    isObject(answer) &&
    typeof answer.allowed === 'boolean' &&
    isCount(answer.count) &&
    isCount(answer.resetsAt)
  return judged(isRight, answer, 'the answer is { allowed, count, resetsAt }')
}

export function leaseOf(answer: LeaseRecord | null): LeaseRecord | null {
  const isRight =
    answer === null ||
    (isObject(answer) &&
      (answer.owner === null || typeof answer.owner === 'string') &&
      isCount(answer.renewal))
  return judged(isRight, answer, 'the answer is { owner, renewal }, or null')
}

export function sweptOf(answer: SweepResult): SweepResult {
  const isRight = isObject(answer) && isCount(answer.removed) && isCount(answer.left)
  return judged(isRight, answer, 'the answer is { removed, left }')
}

export function removedOf(answer: number): number {
  return judged(isCount(answer), answer, 'the answer is the number removed')
}

/** An entry of another form would read as one that has expired, and what is signed out would be let in. */
export function entriesOf(
  ids: readonly string[],
  answer: readonly DenylistEntry[],
  now: number,
): readonly DenylistEntry[] {
  if (!Array.isArray(answer)) throw new StoreAnswerError('the answer is a list')
  for (const entry of answer) judgeEntry(ids, entry, now)
  return answer
}

function judgeEntry(ids: readonly string[], entry: unknown, now: number): void {
  if (!isObject(entry) || typeof entry.id !== 'string' || !ids.includes(entry.id)) {
    throw new StoreAnswerError('the id of an entry is one of those asked for')
  }
  const { reason, expiresAt } = entry
  if (reason !== 'revoked' && reason !== 'max_age') {
    throw new StoreAnswerError('the reason of an entry is "revoked" or "max_age"')
  }
  // A time in seconds is a thousandth of what it should be, and long over: no entry is as old as that.
  if (typeof expiresAt !== 'number' || !isCount(expiresAt) || expiresAt < now / 100) {
    throw new StoreAnswerError('the expiresAt of an entry is in epoch milliseconds')
  }
}
