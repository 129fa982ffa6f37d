import { quoteInput } from '../../errors/index.js'

/** A list can be wrong in tens of thousands of places. */
const mostNamed = 5

/** By the names that the schemas have for them. */
const forms: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

interface Issue {
  readonly code: string
  readonly path: PropertyKey[]
  /** What the member should be; only where it is missing or of another type. */
  readonly expected?: string
}

/** Names members, some of which are keys that the caller chose; repeats nothing else of what was sent. */
export function explainIssues(what: 'request' | 'query', issues: readonly Issue[]): string {
  const parts = issues.map(explain)
  const named = [...new Set(parts)]
  const more = named.length > mostNamed ? '; and more' : ''
  return `The ${what} is not of the expected form: ${named.slice(0, mostNamed).join('; ')}${more}.`
}

function explain({ code, path, expected = '' }: Issue): string {
  if (code === 'unrecognized_keys') return 'it has a member that is not known'
  const name = path.length === 0 ? 'it' : quoteInput(path.join('.'))
  const form = code === 'invalid_type' ? forms[expected] : undefined
  return form === undefined ? `${name} is missing or not valid` : `${name} must be ${form}`
}
