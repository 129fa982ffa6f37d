import type { ClientEnvironment } from './client-environment.js'
import { type Answer, answerOf, type Json, sent } from './exchange.js'
import { grantOf } from './grant.js'
import { aborted } from './postern-error.js'
import type { SessionKeeper } from './session-keeper.js'
import { otherUser, type Sending, withSession } from './with-session.js'

export interface Target {
  readonly origin: string
  /** The address below which the library is mounted. */
  readonly root: string
  /** The address below which the surface's operations are. */
  readonly base: string
}

/** The request for `POST /me/password` or `GET /v1/admin/modules`, without a token. */
function requestFor(
  { root, base }: Target,
  key: string,
  input: Json | undefined,
  signal: AbortSignal | null,
): Request {
  const [method = '', path = ''] = key.split(' ')
  const rest = { ...input }
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name] ?? '')
    delete rest[name]
    // Dots alone would name another path.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${key}: "${name}" is not a name`)
    return encodeURIComponent(value)
  })
  const url = new URL((path.startsWith('/v1/') ? root : base) + filled)
  const how = { method, signal, credentials: 'include', redirect: 'error' } as const
  if (method === 'GET') {
    for (const [name, value] of Object.entries(rest)) url.searchParams.set(name, String(value))
    return new Request(url, how)
  }
  const headers = { 'content-type': 'application/json' }
  return new Request(url, { ...how, headers, body: JSON.stringify(rest) })
}

/** Calls operations of the library. */
export function caller(
  session: SessionKeeper,
  environment: ClientEnvironment,
  target: Target,
  onStepUp: Sending['onStepUp'],
) {
  return async <T>(
    key: string,
    input: Json | undefined,
    signal: AbortSignal | null,
  ): Promise<T> => {
    // A proof does not wait for a proof.
    const proving = key.includes('/step-up') ? undefined : onStepUp
    const how = { signal, isRepeatable: true, isLibrary: true, onStepUp: proving }
    const answer = await withSession(session, environment, how, async (token) => {
      const request = requestFor(target, key, input, signal)
      if (token !== null) request.headers.set('authorization', `Bearer ${token}`)
      const user = session.state.userId()
      const exchange = () => {
        // The token is the one's by now, and the cookie the other's.
        const now = session.state.userId()
        if (user && now && now !== user) throw aborted(otherUser)
        return sent(environment, request, answerOf)
      }
      // What may set or clear the refresh cookie stays apart from rotations.
      const isRead = request.method === 'GET'
      const answer = await (isRead
        ? exchange()
        : session.hold(() => changed(session, key, exchange)))
      return { value: answer, problem: answer.ok ? null : answer.problem }
    })
    if (!answer.ok) throw answer.problem
    return answer.body as T
  }
}

/** Follows a change of the session, while the lock is held. */
async function changed(
  session: SessionKeeper,
  key: string,
  exchange: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await exchange()
  if (!answer.ok) return answer
  const grant = grantOf(answer)
  if (grant) await session.begin(grant, Object(answer.body))
  else if (key === 'POST /logout') session.end(null)
  // It is done, whatever becomes of the refresh that ends the use of older copies of the cookie.
  else if (key === 'POST /me/password') await session.rotate().catch(() => {})
  // A mailed link may be opened where there is no session.
  else if (session.token && /^\w+ \/(me|email\/verify|sessions\/.+)$/.test(key))
    await session.reread()
  return answer
}
