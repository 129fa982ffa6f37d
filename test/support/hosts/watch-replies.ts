import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync } from 'node:fs'
import { expect } from 'vitest'
import { errorCatalogue } from '../../../src/errors/index.js'
import { commonHeaders } from '../../../src/http/reply.js'
import { openApiDocument } from '../../../src/openapi/index.js'
import { operations } from '../../../src/operations/index.js'
import { operationOptions } from '../../../src/operations/operation.js'
import { replyJudge } from './documented-replies.js'
import { exercisedFile } from './exercised-file.js'
import type { Reply } from './http-client.js'

/** One per process: to read the document costs a tenth of a second. */
const judge = replyJudge(openApiDocument({ surfaceOptions: operationOptions }))

/**
 * Fails for a reply of the library that its OpenAPI document does not describe: another status, header,
 * cookie or code, a member too many or too few.
 */
export function watchReply(method: string, path: string, reply: Reply): void {
  if (!isOurs(reply) || isOfRouter(reply)) return
  const judged = judge(method, path, reply)
  if (judged === null) return
  const { operationId, problems } = judged
  const told = `${method} ${path}: ${reply.status} ${reply.text.slice(0, 500)}`
  assert.deepEqual(problems, [], `not as documented for ${operationId}: ${told}`)
  assert.ok(isToldError(reply), `not among the errors of a redirect for ${operationId}: ${told}`)
  note(`${operationId} ${reply.status}`)
}

const redirectErrors = new Set<string>(operations.flatMap((row) => row.redirectErrors ?? []))

/** Whether what a redirect tells the host's page went wrong is among what the table declares. */
function isToldError({ status, headers }: Reply): boolean {
  const location = [302, 303].includes(status) ? headers.get('location') : null
  const error = location === null ? null : new URL(location).searchParams.get('error')
  const isKnown = (code: string) =>
    redirectErrors.has(code) || (status === 303 && code in errorCatalogue)
  return error === null || isKnown(error)
}

/** What else a host serves is its own affair. */
function isOurs({ headers }: Reply): boolean {
  return headers.get('content-security-policy') === commonHeaders['content-security-policy']
}

/** There is no such route: not on the host of the other surface, nor for HEAD where GET begins something. */
function isOfRouter({ status, code }: Reply): boolean {
  return status === 405 || (status === 404 && code === 'not_found')
}

const noted = new Set<string>([''])

/** For the gate that asks whether the contract suite met every operation. */
function note(line: string): void {
  if (noted.has(line) || !expect.getState().testPath?.includes('/test/contract/')) return
  noted.add(line)
  mkdirSync(new URL('./', exercisedFile), { recursive: true })
  appendFileSync(exercisedFile, `${line}\n`)
}
