import { quoteInput } from '../../engine/quote-input.js'

/** A list can be wrong in tens of thousands of places. */
const mostNamed = 5

/** Names members, some of which are keys that the caller chose; repeats nothing else of what was sent. */
export function explainIssues(
  what: 'request' | 'query',
  issues: readonly { readonly code: string; readonly path: PropertyKey[] }[],
): string {
  const parts = issues.map(({ code, path }) =>
    code === 'unrecognized_keys'
      ? 'it has a member that is not known'
      : `${quoteInput(path.join('.'))} is missing or not valid`,
  )
  const named = [...new Set(parts)]
  const more = named.length > mostNamed ? '; and more' : ''
  return `The ${what} is not of the expected form: ${named.slice(0, mostNamed).join('; ')}${more}.`
}
