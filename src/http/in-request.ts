import type { LogContext } from '../ports/telemetry.js'
import type { RouteGuardRequest } from './http-message.js'

/** The headers that a host can have its request ids read from. */
export type RequestIdHeader = 'x-request-id' | 'traceparent'

type Head = Pick<RouteGuardRequest, 'header'>

/** Does a request's work, of which log lines then tell the operation and the request's id. */
export type InRequest = <T>(operation: string, request: Head, work: () => T) => T

/** Without a context, the work is done and nothing else. */
export function inRequest(
  context: LogContext | null,
  header: RequestIdHeader | undefined,
  newId: () => string,
): InRequest {
  if (context === null) return (_operation, _request, work) => work()
  return (operation, request, work) => {
    let id: string | undefined
    // Made for the first line: most requests cause none.
    const requestId = () => {
      id ??= givenId(request, header) ?? newId()
      return id
    }
    return context.within({ operation, requestId }, work)
  }
}

/** Null for a request without one, or with one that is not of a form that proxies write. */
function givenId(request: Head, header: RequestIdHeader | undefined): string | null {
  const given = header === undefined ? undefined : request.header(header)
  if (given === undefined) return null
  if (header === 'traceparent') return traceIdOf(given)
  return /^[\w.+/=:@-]{1,128}$/.test(given) ? given : null
}

/** The id of the trace (W3C Trace Context §3.2). Later versions may say more behind a hyphen. */
function traceIdOf(traceparent: string): string | null {
  const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
  const [, version, traceId = '', parentId = '', more] = form.exec(traceparent) ?? []
  const isKnown =
    version !== undefined && version !== 'ff' && (version !== '00' || more === undefined)
  return isKnown && /[^0]/.test(traceId) && /[^0]/.test(parentId) ? traceId : null
}
