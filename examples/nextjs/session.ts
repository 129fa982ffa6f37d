import { headers } from 'next/headers'
import { cache } from 'react'
import { startedAuth } from './auth.ts'

/** The session of the browser that asked for this page, or null. Looked up once for a request. */
export const currentSession = cache(async () => {
  // Asked for first, because it tells `next build` to leave the page to each request.
  const request = { method: 'GET', headers: await headers() }
  const { client } = await startedAuth()
  return client.sessionOf(request, { use: 'page' })
})
