import type { ErrorCode } from '../errors/index.js'
import type { Guard, Operation } from '../operations/operation.js'

/** The codes of every operation. */
export const commonCodes = [
  'rate_limited',
  'internal_error',
  'service_unavailable',
] as const satisfies readonly ErrorCode[]

/** The codes of an operation with a body. */
export const bodyCodes = [
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[]

/** The codes of an operation that requires an access token, in the order of the checks. */
export const bearerCodes = [
  'unauthorized',
  'audience_mismatch',
  'session_revoked',
  'session_max_age_reached',
  'permission_denied',
  'session_enforcement_unavailable',
  'authorization_unavailable',
] as const satisfies readonly ErrorCode[]

const guardCodes: Readonly<Record<Guard['kind'], readonly ErrorCode[]>> = {
  public: [],
  origin: ['csrf_rejected'],
  bearer: [...bearerCodes, 'human_principal_required'],
  bearerOrTicket: [...bearerCodes, 'human_principal_required', 'mfa_ticket_invalid'],
  principal: bearerCodes,
  stepUp: ['step_up_required'],
  permission: ['permission_denied'],
}

/** Every code that an operation may answer: its own, and those of the checks before it. */
export function errorCodesOf(operation: Operation): readonly ErrorCode[] {
  const { method, query, guards, errors } = operation
  const hasBody = method !== 'GET'
  const isPeekedAt = operation.access === 'public' && operation.bearer !== 'ignored'
  const codes: readonly ErrorCode[] = [
    ...(hasBody ? bodyCodes : []),
    ...(query === undefined ? [] : (['invalid_request'] as const)),
    ...(isPeekedAt ? (['audience_mismatch'] as const) : []),
    ...guards.flatMap(({ kind }) => guardCodes[kind]),
    ...errors,
    ...commonCodes,
  ]
  const asksForProof = codes.includes('step_up_required')
  // An operation on sessions answers every outage with the code of a session outage.
  const isSession = errors.includes('session_enforcement_unavailable')
  const answered = codes.filter((code) => !(isSession && code === 'service_unavailable'))
  // A caller without a factor is told to enroll one first.
  return [
    ...new Set([...answered, ...(asksForProof ? (['mfa_enrollment_required'] as const) : [])]),
  ]
}
