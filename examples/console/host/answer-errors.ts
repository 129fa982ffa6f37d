import { STATUS_CODES } from 'node:http'
import type { ErrorRequestHandler, Response } from 'express'
import { AuthError } from 'postern'
import { Refusal } from './refusal.ts'

interface Problem {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly field?: string
}

/** Errors of the body parser, which carry a status and quote the request in their message. */
const ofParser: Readonly<Record<number, Problem>> = {
  413: { status: 413, code: 'payload_too_large', detail: 'The request body is too large.' },
  415: { status: 415, code: 'unsupported_media_type', detail: 'The request body must be JSON.' },
}

const failure: Problem = {
  status: 500,
  code: 'internal_error',
  detail: 'Something went wrong.',
}

function problemOf(error: unknown): Problem {
  if (error instanceof AuthError) {
    const { status, code, message, field } = error
    return { status, code, detail: message, ...(field === null ? {} : { field }) }
  }
  if (error instanceof Refusal) {
    return { status: error.status, code: error.code, detail: error.message }
  }
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500
  if (status < 400 || status >= 500) return failure
  const detail = 'The request is not of the expected form.'
  return ofParser[status] ?? { status: 400, code: 'invalid_request', detail }
}

/** The body of a refusal (RFC 9457), as the library's own routes write it, so that one client reads both. */
function send(response: Response, { status, ...rest }: Problem): void {
  const body = JSON.stringify({ status, title: STATUS_CODES[status] ?? 'Error', ...rest })
  response.status(status).type('application/problem+json').send(body)
}

/** Middleware behind the console's routes: every error becomes a reply that leaks nothing. */
export const answerErrors: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) return next(error)
  const problem = problemOf(error)
  if (problem === failure) console.error(error)
  if (error instanceof AuthError && error.retryAfter !== null) {
    response.set('Retry-After', String(error.retryAfter))
  }
  send(response, problem)
}
