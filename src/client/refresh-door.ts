import type { ClientEnvironment } from './client-environment.js'
import { type Answer, answerOf, sent } from './exchange.js'
import { grantOf } from './grant.js'
import { pauseMs } from './pause.js'

/** Milliseconds after which a rotation is sent once more, beside the one whose reply is still awaited. */
const patienceMs = 5000

/** Milliseconds for which replies are awaited after that. All is over before a tab goes on without the lock. */
const lateMs = 5000

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
 * Not for a refusal, by which nothing was rotated. A gateway's 502, a 200 that cannot be read, and no reply at all
 * leave that open.
 */
function mayHaveRotated(answer: Answer | null): boolean {
  if (answer === null || answer.ok) return true
  const { status, problem } = answer
  return status >= 500 && (status !== 503 || problem.code === '')
}

/** A token, or the end of the session, as the library says it: a 401 of anything else ends nothing. */
function isSettled(answer: Answer): boolean {
  return grantOf(answer) !== null || (answer.status === 401 && answer.body !== null)
}

/**
 * Sends until a reply settles it. A rotation whose reply is lost is repeated at once and then every second, because
 * the token is of use for ten seconds only. One whose reply is slow is repeated too, and goes on: whichever reply
 * comes first is used. A 503 is waited out twice. Never rejects.
 */
export async function settled(
  environment: ClientEnvironment,
  url: string,
  how: RequestInit & { readonly method: 'GET' | 'POST' },
  wasLost: boolean,
): Promise<Settled> {
  const { now } = environment
  const isRotation = how.method === 'POST'
  const began = now()
  const end = new AbortController()
  const { signal } = end
  const underWay: Promise<Answer | null>[] = []
  let isLost = wasLost
  let settle: (answer: Answer) => void = () => {}
  const first = new Promise<Answer>((resolve) => {
    settle = resolve
  })
  for (let tries = 0; ; tries += 1) {
    const request = new Request(url, { credentials: 'include', ...how, signal, redirect: 'error' })
    underWay.push(answered(environment, request, settle))
    const answer = await within(environment, patienceMs, first, ...underWay.slice(-1))
    isLost ||= isRotation && mayHaveRotated(answer)
    const pause = isLost ? untilRepeat(now() - began, tries) : untilNext(environment, answer, tries)
    const work = pause === null ? [first, Promise.all(underWay).then(nothing)] : [first]
    const last = await within(environment, pause ?? lateMs, ...work)
    if (last || pause === null) {
      end.abort()
      return last ? { answer: last, isLost: false } : { answer, isLost }
    }
  }
}

const nothing = () => null

/** Milliseconds until a rotation that may be lost is repeated; null where that would be too late. */
function untilRepeat(goneMs: number, tries: number): number | null {
  return goneMs < repeatMs ? Math.min(tries, 1) * 1000 : null
}

/** Milliseconds until it is sent again after this reply; null where it is not. */
function untilNext(
  environment: ClientEnvironment,
  answer: Answer | null,
  tries: number,
): number | null {
  return answer?.status === 503 && tries < 2 ? pauseMs(environment, answer.problem) : null
}

/** The reply, which `settle` is told of where it settles it; null where none came. */
async function answered(
  environment: ClientEnvironment,
  request: Request,
  settle: (answer: Answer) => void,
): Promise<Answer | null> {
  const answer = await sent(environment, request, answerOf).catch(nothing)
  if (answer && isSettled(answer)) settle(answer)
  return answer
}

/** What the first of these comes to; null where all take longer than so many milliseconds. */
function within<T>(
  { after }: ClientEnvironment,
  ms: number,
  ...work: readonly Promise<T | null>[]
): Promise<T | null> {
  let cancel = () => {}
  const late = new Promise<null>((resolve) => {
    cancel = after(ms, () => resolve(null))
  })
  return Promise.race([...work, late]).finally(cancel)
}
