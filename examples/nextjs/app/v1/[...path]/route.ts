import { fetchHandler } from 'postern/fetch'
import { startedAuth } from '../../../auth.ts'

/** All routes of the library, of both surfaces. */
async function answer(request: Request): Promise<Response> {
  const { both } = await startedAuth()
  return (await fetchHandler(both)(request)) ?? new Response(null, { status: 404 })
}

export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
}
