import type { ClientEnvironment } from './client-environment.js'
import { type Answer, answerOf, sent } from './exchange.js'
import { grantOf } from './grant.js'
import { pauseMs, sleep } from './pause.js'

/**
 * Milliseconds after which a reply counts as lost. A rotation is repeated then, while the server still takes the
 * replaced token. A question is not, and a server that is slow may take longer.
 */
const attemptMs = (method: string) => (method === 'GET' ? 10_000 : 5000)

/**
 * Milliseconds for which a rotation is repeated after a reply that was lost. The server takes the replaced token
 * for ten seconds, and the repeat has to arrive within them.
 */
const repeatMs = 9000

/** What a rotation, or a question who is signed in, came to in the end. */
export interface Settled {
  /** The last reply, if any. */
  readonly answer: Answer | null
  /** True where a rotation may have been carried out whose reply was lost. */
  readonly isLost: boolean
}

/**
 * A reply by which nothing was rotated. A gateway's 502, a 200 that cannot be read, and no reply at all
 * leave that open.
 */
function isRefusal({ ok, status, problem }: Answer): boolean {
  return !ok && (status < 500 || (status === 503 && problem.code !== ''))
}

/** A token, or the end of the session, as the library says it: a 401 of anything else ends nothing. */
function isSettled(answer: Answer): boolean {
  return grantOf(answer) !== null || answer.ended !== undefined
}

type Question = RequestInit & { readonly method: 'GET' | 'POST' }

/** One attempt. Null where no reply came in time. */
async function attempt(
  environment: ClientEnvironment,
  url: string,
  how: Question,
): Promise<Answer | null> {
  const limit = new AbortController()
  const cancel = environment.after(attemptMs(how.method), () => limit.abort())
  const { signal } = limit
  const request = new Request(url, { credentials: 'include', ...how, signal, redirect: 'error' })
  try {
    return await sent(environment, request, answerOf)
  } catch {
    return null
  } finally {
    cancel()
  }
}

/**
 * Sends until a reply settles it. A rotation whose reply is lost is repeated at once and then every second, because
 * the token is of use for ten seconds only. A 503 is waited out twice. Never rejects.
 */
export async function settled(
  environment: ClientEnvironment,
  url: string,
  how: Question,
  wasLost: boolean,
): Promise<Settled> {
  const { now } = environment
  const began = now()
  let isLost = wasLost
  for (let tries = 0; ; tries += 1) {
    const answer = await attempt(environment, url, how)
    if (answer && isSettled(answer)) return { answer, isLost: false }
    isLost ||= how.method === 'POST' && !(answer && isRefusal(answer))
    const isOver = isLost ? now() - began >= repeatMs : answer?.status !== 503 || tries > 1
    if (isOver) return { answer, isLost }
    const ms = isLost ? Math.min(tries, 1) * 1000 : pauseMs(environment, answer?.problem)
    await sleep(environment, ms)
  }
}
