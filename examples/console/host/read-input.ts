import { AuthError } from 'postern'
import { z } from 'zod'

/**
 * What a request brings, if it is of this form; else throws `invalid_request` with the name of the member, and
 * without its value.
 */
export function readInput<S extends z.ZodType>(form: S, given: unknown): z.infer<S> {
  const read = form.safeParse(given)
  if (read.success) return read.data
  const field = read.error.issues[0]?.path.join('.') ?? ''
  if (field === '') throw new AuthError('invalid_request')
  const detail = `"${field}" is missing or not of the expected form.`
  throw new AuthError('invalid_request', { detail, field })
}

const surface = z.enum(['operator', 'client'])

/** The surface in a path. Another word there is a path that does not exist. */
export function surfaceIn({ surface: named }: { readonly surface?: unknown }) {
  const read = surface.safeParse(named)
  if (!read.success) throw new AuthError('not_found')
  return read.data
}

/** The part of a list that a request asks for. */
export const pageForm = {
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/)
    .transform(Number)
    .default(25),
  after: z.string().min(1).max(100).optional(),
}

/** `after` as the library's lists want it: not there on the first page. */
export function startOf({ limit, after }: { limit: number; after?: string | undefined }) {
  return after === undefined ? { limit } : { limit, after }
}

/** A tenant's id; left out where none is meant. */
export const tenantForm = { tenantId: z.string().min(1).max(64).optional() }
