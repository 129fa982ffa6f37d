import { fetchGuards } from 'postern/fetch'
import { startedAuth } from '../../auth.ts'

/** For client users who hold the permission. Scripts call it with a bearer: a cookie opens no guarded route. */
export async function GET(request: Request): Promise<Response> {
  const auth = await startedAuth()
  const { requirePermission, principalOf } = fetchGuards(auth.client)
  const refusal = await requirePermission('reports.read')(request)
  if (refusal !== null) return refusal
  const { userId } = principalOf(request)
  return Response.json({ reader: userId, reports: [{ month: '2026-01', visits: 1204 }] })
}
