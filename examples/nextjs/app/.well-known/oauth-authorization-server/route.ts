import { fetchHandler } from 'postern/fetch'
import { startedAuth } from '../../../auth.ts'

/** Where OAuth libraries look for the token endpoint. */
async function answer(request: Request): Promise<Response> {
  const { metadata } = await startedAuth()
  return (await fetchHandler(metadata)(request)) ?? new Response(null, { status: 404 })
}

export { answer as DELETE, answer as GET, answer as HEAD, answer as POST, answer as PUT }
