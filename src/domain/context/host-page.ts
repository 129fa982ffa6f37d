import { isStorableId } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'

interface PageRequest {
  readonly limit?: number
  readonly after?: string
}

const usualLimit = 50
const largestLimit = 200

/**
 * What to read for a page that the host's code asked for. Throws `invalid_request` for a limit or a start that cannot be,
 * and for unknown members: a misspelt `after` would begin at the first page again and again.
 */
export function hostPage({ limit = usualLimit, after, ...rest }: PageRequest) {
  const isLimit = Number.isInteger(limit) && limit >= 1 && limit <= largestLimit
  const [unknown] = Object.keys(rest)
  const problem =
    (unknown !== undefined && `members do not include "${unknown}".`) ||
    (!isLimit && `limit must be a whole number from 1 to ${largestLimit}.`) ||
    (after !== undefined && !isStorableId(after) && 'after must be the next of the page before.')
  if (problem) throw new AuthError('invalid_request', { detail: `A page's ${problem}` })
  return {
    /** One more than asked for shows whether there is a next page. */
    read: { limit: limit + 1, ...(after === undefined ? {} : { after }) },
    /** The page out of what was read, and the `after` of the next one; null on the last page. */
    cut<T extends { readonly id: string }>(found: readonly T[]) {
      const shown = found.slice(0, limit)
      return { shown, next: found.length > limit ? (shown.at(-1)?.id ?? null) : null }
    },
  }
}
