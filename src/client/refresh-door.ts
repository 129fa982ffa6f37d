import type { ClientEnvironment } from './client-environment.js'
import { type Answer, answerOf, sent } from './exchange.js'
import { grantOf } from './grant.js'
import { pauseMs, sleep } from './pause.js'

/** Milliseconds after which a rotation is sent once more, beside the one whose reply is awaited still. */
const patienceMs = 5000

/** Milliseconds after which no reply is awaited: the last repeat is over before a tab goes on without the lock. */
const limitMs = 10_000

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

/** The requests of one rotation, or of one question: the first reply that settles it counts, of whichever it is. */
class Requests {
  readonly #environment: ClientEnvironment
  readonly #underWay: Promise<Answer | null>[] = []
  readonly #limits: AbortController[] = []
  #settle: () => void = () => {}
  /** Resolves when `found` is there. */
  readonly settled = new Promise<void>((resolve) => {
    this.#settle = resolve
  })
  found: Answer | null = null

  constructor(environment: ClientEnvironment) {
    this.#environment = environment
  }

  /** Resolves with the reply; null where none came, or none within `patience` milliseconds. */
  send(url: string, how: RequestInit, patience: number): Promise<Answer | null> {
    const limit = new AbortController()
    const { signal } = limit
    const request = new Request(url, { credentials: 'include', ...how, signal, redirect: 'error' })
    const cancel = this.#environment.after(limitMs, () => limit.abort())
    const reply = sent(this.#environment, request, answerOf)
      .catch(() => null)
      .finally(cancel)
    this.#limits.push(limit)
    this.#underWay.push(reply)
    reply.then((answer) => {
      if (answer === null || !isSettled(answer)) return
      this.found ??= answer
      this.#settle()
    })
    return within(this.#environment, patience, reply)
  }

  /** Resolves when each has its reply, or will have none. */
  over(): Promise<unknown> {
    return Promise.all(this.#underWay)
  }

  stop(): void {
    for (const limit of this.#limits) limit.abort()
  }
}

/** The same, or null where it takes longer than `ms` milliseconds. */
function within<T>({ after }: ClientEnvironment, ms: number, work: Promise<T>): Promise<T | null> {
  let cancel = () => {}
  const late = new Promise<null>((resolve) => {
    cancel = after(ms, () => resolve(null))
  })
  return Promise.race([work, late]).finally(cancel)
}

/** What is asked of the server, and how. */
interface Question {
  readonly url: string
  readonly how: RequestInit & { readonly method: 'GET' | 'POST' }
  readonly wasLost: boolean
}

/**
 * Sends until a reply settles it. A rotation whose reply is lost is repeated at once and then every second, because
 * the token is of use for ten seconds only. One whose reply is slow is repeated too, and goes on: whichever reply
 * comes first is used. A 503 is waited out twice. Never rejects.
 */
export async function settled(
  environment: ClientEnvironment,
  url: string,
  how: Question['how'],
  wasLost: boolean,
): Promise<Settled> {
  const requests = new Requests(environment)
  const outcome = repeated(environment, requests, { url, how, wasLost })
  await Promise.race([requests.settled, outcome])
  requests.stop()
  return requests.found ? { answer: requests.found, isLost: false } : outcome
}

async function repeated(
  environment: ClientEnvironment,
  requests: Requests,
  { url, how, wasLost }: Question,
): Promise<Settled> {
  const { now } = environment
  const isRotation = how.method === 'POST'
  const began = now()
  let isLost = wasLost
  for (let tries = 0; ; tries += 1) {
    const answer = await requests.send(url, how, isRotation ? patienceMs : limitMs)
    isLost ||= isRotation && mayHaveRotated(answer)
    const isOver = isLost ? now() - began >= repeatMs : answer?.status !== 503 || tries > 1
    if (isOver) await requests.over()
    else
      await sleep(environment, isLost ? pauseAfter(tries) : pauseMs(environment, answer?.problem))
    if (isOver || requests.found) return { answer, isLost }
  }
}

/** The first repeat is sent at once. */
const pauseAfter = (tries: number) => Math.min(tries, 1) * 1000
