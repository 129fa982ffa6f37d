import type { AuthClient, PosternProblem } from 'postern/client'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Asks a route of this host's own, below `/api`. Rejects with what `client.call` rejects with. */
export async function hostCall<T = null>(
  client: Pick<AuthClient<'client'>, 'authFetch'>,
  method: Method,
  path: string,
  body?: object,
): Promise<T> {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await client.authFetch(`/api${path}`, {
    method,
    ...(body === undefined ? {} : json),
  })
  const reply = response.status === 204 ? null : await response.json().catch(() => null)
  if (response.ok) return reply
  throw problemOf(response, reply ?? {})
}

/** The query of a path, without the members that are empty. */
export function queryOf(given: Readonly<Record<string, string | null>>): string {
  const filled = Object.entries(given).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return filled.length === 0 ? '' : `?${new URLSearchParams(filled)}`
}

interface ProblemBody {
  readonly code?: string
  readonly detail?: string
  readonly field?: string
}

/** In the form of the client's own, so that the pages show both alike. */
function problemOf({ status, headers }: Response, body: ProblemBody): PosternProblem {
  const { code = '', detail = '', field = null } = body
  const retryAfter = Number(headers.get('retry-after')) || null
  return Object.assign(new Error(`${status} ${code}`), {
    name: 'PosternError' as const,
    kind: 'problem' as const,
    ...{ status, code, detail, field, retryAfter },
    ...{ violations: [], maxAgeSeconds: null, reason: null },
  })
}
