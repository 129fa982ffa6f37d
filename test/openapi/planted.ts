import * as z from 'zod/mini'
import { type Operation, publicOperation } from '../../src/operations/operation.js'

/** An operation of no table, to show what an entry makes of itself. */
export function plantedOperation(more: Partial<Operation> = {}): Operation {
  const entry = publicOperation({
    id: 'planted',
    method: 'POST',
    path: '/v1/auth/{surface}/planted',
    surfaces: ['operator', 'client'],
    tag: 'Authentication',
    summary: 'Planted',
    guards: [{ kind: 'public' }],
    limit: 'oauth',
    status: 200,
    body: z.strictObject({ word: z.string(), more: z.optional(z.int()) }),
    reply: z.strictObject({ said: z.string(), at: z.optional(z.iso.datetime()) }),
    errors: ['invalid_token'],
    handle: async ({ body }) => ({ body: { said: body.word } }),
  })
  return Object.assign(entry, more)
}
