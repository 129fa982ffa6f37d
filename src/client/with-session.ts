import type { ClientEnvironment } from './client-environment.js'
import { endingCodes } from './ending-codes.js'
import { unlessAborted } from './exchange.js'
import { fresh } from './fresh.js'
import { pauseMs, sleep } from './pause.js'
import { aborted, type PosternProblem } from './postern-error.js'
import type { SessionKeeper } from './session-keeper.js'

/** Why a call is given up that was begun for the one before. */
export const otherUser = 'another user signed in'

/** What a protected operation asks for, when a user has to prove a second factor again. */
export interface StepUpChallenge {
  /** How old a proof may be, in seconds. */
  readonly maxAgeSeconds: number | null
}

export interface Sending {
  readonly signal: AbortSignal | null
  /** False for a body that is gone once it was sent. */
  readonly isRepeatable: boolean
  /** True for an address of the library's own origin, whose word on the session counts. */
  readonly isLibrary: boolean
  readonly onStepUp: ((challenge: StepUpChallenge) => Promise<void>) | undefined
}

/** What was sent came to this; `problem` is null unless it was refused. */
export interface Sent<T> {
  readonly value: T
  readonly problem: PosternProblem | null
}

/**
 * Sends with a token that is fresh, and once more where a refusal can be met: by a new token, by a proof of a
 * second factor, or by waiting. What is refused for any other reason is the caller's.
 */
export async function withSession<T>(
  session: SessionKeeper,
  environment: ClientEnvironment,
  how: Sending,
  send: (token: string | null) => Promise<Sent<T>>,
): Promise<T> {
  const { signal } = how
  if (session.state.get().status === 'loading') await unlessAborted(session.restore(), signal)
  const user = session.state.userId()
  const left = { renewal: 1, proof: 1, wait: 2 }
  for (;;) {
    await unlessAborted(fresh(session, environment), signal)
    if (session.state.userId() !== user) throw aborted(otherUser)
    const { token } = session
    const { value, problem } = await send(token)
    const remedy = problem && fitting(problem, session, how, token)
    if (!remedy || !how.isRepeatable || left[remedy]-- < 1) return value
    if (remedy === 'renewal' && token === session.token) {
      await unlessAborted(session.renew(), signal)
    }
    if (remedy === 'proof') await how.onStepUp?.(problem)
    if (remedy === 'wait') {
      await unlessAborted(sleep(environment, pauseMs(environment, problem)), signal)
    }
  }
}

type Remedy = 'renewal' | 'proof' | 'wait'

/** What may help before it is sent again; null where nothing does. */
function fitting(
  { status, code }: PosternProblem,
  session: SessionKeeper,
  { isLibrary, onStepUp }: Sending,
  token: string | null,
): Remedy | null {
  if (status === 401 && token !== null) {
    const isEnd = endingCodes.includes(code)
    if (isEnd && isLibrary && token === session.token) {
      session.end(code)
      return null
    }
    return isEnd || code === '' ? 'renewal' : null
  }
  if (code === 'step_up_required' && onStepUp) return 'proof'
  // The one 503 before which nothing was done.
  return code === 'session_enforcement_unavailable' ? 'wait' : null
}
