import { AuthError } from 'postern'
import { fetchGuards } from 'postern/fetch'
import { startedAuth } from '../../../auth.ts'

/** An operator lets a client user read the reports, from the user's next request on. */
export async function POST(request: Request): Promise<Response> {
  const auth = await startedAuth()
  const { requireUser, requirePermission, requireStepUp, principalOf } = fetchGuards(auth.operator)
  const early = await requireUser()(request)
  if (early !== null) return early
  try {
    const userId = await userIdOf(request)
    // After the body, which a caller can hold back: whatever ended meanwhile is noticed.
    const refusal =
      (await requirePermission('reports.share')(request)) ??
      (await requireStepUp({ maxAge: '5m' })(request))
    if (refusal !== null) return refusal
    const permissions = ['reports.read']
    const readers = await auth.client.roles.define({ name: 'report reader', permissions })
    const by = { actorId: principalOf(request).userId }
    await auth.client.roles.bind({ userId, roleId: readers.id }, by)
    return new Response(null, { status: 204 })
  } catch (error) {
    // Next.js answers any other error with 500 and no text.
    if (!(error instanceof AuthError)) throw error
    const { status, code, message: detail } = error
    const headers = { 'content-type': 'application/problem+json' }
    return Response.json({ status, detail, code }, { status, headers })
  }
}

async function userIdOf(request: Request): Promise<string> {
  const length = Number(request.headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  if (length > 64 * 1024) throw new AuthError('payload_too_large')
  const body: unknown = await request.json().catch(() => null)
  const userId = typeof body === 'object' && body !== null && 'userId' in body ? body.userId : null
  if (typeof userId === 'string') return userId
  throw new AuthError('invalid_request', { detail: 'userId must be a text.' })
}
