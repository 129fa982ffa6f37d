import { type ErrorCode, errorCatalogue, passwordViolations, titleOf } from '../errors/index.js'
import type { Guard, Operation } from '../operations/operation.js'
import type { JsonSchema, OpenApiHeader, OpenApiResponse } from './types.js'

const text = { type: 'string' } as const
const members = ['status', 'title', 'detail'] as const

const proofCodes: readonly ErrorCode[] = ['step_up_required', 'mfa_enrollment_required']

const isCode = (name: string): name is ErrorCode => name in errorCatalogue
const codes: readonly ErrorCode[] = Object.keys(errorCatalogue).filter(isCode)

/** The body of each error (RFC 9457), by the name of its component. */
export const problemSchemas: Readonly<Record<string, JsonSchema>> = {
  ...Object.fromEntries(codes.map((code) => [`${pascalCase(code)}Problem`, problemSchema(code)])),
  ModuleProblem: {
    type: 'object',
    description: 'A module refused the values, by a code of its own.',
    properties: {
      ...problemMembers(422),
      code: text,
    },
    required: [...members, 'code'],
  },
}

/** The names of responses with a single code, by their JSON. */
export const sharedProblems: ReadonlyMap<string, string> = new Map(
  codes.map((code) => {
    const response = problemResponse(errorCatalogue[code].status, [code], false)
    return [JSON.stringify(response), pascalCase(code)]
  }),
)

/** The refusals of an operation by status. */
export function problemResponses(operation: Operation): ReadonlyMap<number, OpenApiResponse> {
  const byStatus = new Map<number, ErrorCode[]>()
  if (operation.validated) byStatus.set(422, [])
  for (const code of errorCodesOf(operation)) {
    const { status } = errorCatalogue[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const responses = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, known]) => {
      if (operation.oauth2 && status <= 401) return [status, oauth2Response(status, known)] as const
      const isValidated = status === 422 && operation.validated === true
      return [status, problemResponse(status, known, isValidated)] as const
    })
  return new Map(responses)
}

/** RFC 6749 §5.2. */
function oauth2Response(status: number, known: readonly ErrorCode[]): OpenApiResponse {
  const schemes = ['Bearer', 'Basic realm="oauth2", charset="UTF-8"']
  const challenge = { 'WWW-Authenticate': { required: true, schema: { enum: schemes } } }
  const properties = { error: { enum: known }, error_description: text }
  const required = Object.keys(properties)
  return {
    description: known.map(describe).join('\n\n'),
    ...(status === 401 ? { headers: challenge } : {}),
    content: { 'application/json': { schema: { type: 'object', properties, required } } },
  }
}

function problemResponse(
  status: number,
  known: readonly ErrorCode[],
  isValidated: boolean,
): OpenApiResponse {
  const names = known.map((code) => `${pascalCase(code)}Problem`)
  const lines = known.map(describe)
  if (isValidated) {
    names.push('ModuleProblem')
    lines.push('Or a module refused the values, by a code of its own or by none.')
  }
  const anyOf = names.map((name) => ({ $ref: `#/components/schemas/${name}` }))
  const headers = problemHeaders(status, known)
  return {
    description: lines.join('\n\n'),
    ...(headers === null ? {} : { headers }),
    content: {
      'application/problem+json': { schema: anyOf.length === 1 ? { ...anyOf[0] } : { anyOf } },
      ...(isValidated ? { 'text/plain': { schema: { const: titleOf(422) } } } : {}),
    },
  }
}

function problemSchema(code: ErrorCode): JsonSchema {
  const { status, detail } = errorCatalogue[code]
  const isPlain = code === 'unauthorized'
  return {
    type: 'object',
    description: isPlain ? `${detail} The one problem without a code.` : detail,
    properties: {
      ...problemMembers(status),
      ...(isPlain ? {} : { code: { const: code } }),
      ...ownMembers(code),
    },
    required: isPlain ? members : [...members, 'code', ...alwaysTold(code)],
  }
}

/** Those without which none of these errors comes. */
function alwaysTold(code: ErrorCode): readonly string[] {
  return errorCatalogue[code].status === 422 ? Object.keys(ownMembers(code)) : []
}

/** What some errors tell beside the four members of every one. */
function ownMembers(code: ErrorCode): JsonSchema {
  if (proofCodes.includes(code)) return { maxAgeSeconds: { type: 'integer' } }
  if (code === 'password_policy') {
    return { violations: { type: 'array', items: { enum: passwordViolations } } }
  }
  if (code === 'registration_disabled') {
    const description = 'The code of the host’s own, where its `beforeRegister` refused.'
    return { reason: { ...text, description } }
  }
  // A 422 of the configuration has the four members alone: its detail names the key.
  const isOfField = code.startsWith('config.') && errorCatalogue[code].status === 409
  return isOfField ? { field: { ...text, description: 'The key or list it is about.' } } : {}
}

function problemMembers(status: number): JsonSchema {
  return { status: { const: status }, title: { const: titleOf(status) }, detail: text }
}

function problemHeaders(
  status: number,
  known: readonly ErrorCode[],
): Readonly<Record<string, OpenApiHeader>> | null {
  if (status === 429 || status === 503) {
    const description = 'Seconds after which to try again.'
    const schema = { type: 'integer', minimum: 1 }
    return { 'Retry-After': { description, required: true, schema } }
  }
  if (status === 401) return { 'WWW-Authenticate': { required: true, schema: { const: 'Bearer' } } }
  if (!known.includes('step_up_required')) return null
  const codes = proofCodes.map((code) => `\`${code}\``)
  const description = `With ${codes.join(' and ')}: the challenge of RFC 9470.`
  return { 'WWW-Authenticate': { description, schema: text } }
}

function describe(code: ErrorCode): string {
  const { detail } = errorCatalogue[code]
  return code === 'unauthorized' ? `Without a code: ${detail}` : `\`${code}\`: ${detail}`
}

/** `config.revision_conflict` → `ConfigRevisionConflict`. */
function pascalCase(code: ErrorCode): string {
  const words = code.split(/[._]/)
  return words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`).join('')
}

/** The codes of every operation. */
export const commonCodes = [
  'rate_limited',
  'internal_error',
  'service_unavailable',
] as const satisfies readonly ErrorCode[]

/** The codes of an operation with a body. */
export const bodyCodes = [
  'invalid_request',
  'request_body_timeout',
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
