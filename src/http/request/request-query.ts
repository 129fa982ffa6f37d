import { AuthError } from '../../errors/index.js'
import type { Operation, Params } from '../../operations/operation.js'
import type { ExchangeRequest } from './exchange.js'
import { explainIssues } from './explain-issues.js'
import { unworded } from './unworded.js'

/**
 * The members of the query, for an operation that declares some; empty for any other. Throws
 * `invalid_request` for members of another form, and for one given twice: a reader of the first
 * and a reader of the last would disagree about the request (RFC 6749 §3.1).
 */
export function readQuery(request: Pick<ExchangeRequest, 'query'>, operation: Operation): Params {
  if (operation.query === undefined) return {}
  const members = [...new URLSearchParams(request.query)]
  const params: Params = Object.fromEntries(members)
  if (Object.keys(params).length < members.length) {
    throw new AuthError('invalid_request', { detail: 'The query has a member twice.' })
  }
  const result = operation.query.safeParse(params, unworded)
  if (result.success) return params
  throw new AuthError('invalid_request', { detail: explainIssues('query', result.error.issues) })
}
