import type { ClientEnvironment } from './client-environment.js'
import { endingCodes } from './ending-codes.js'
import { aborted, networkFailure, type PosternProblem, problem } from './postern-error.js'

/** Members of a JSON object, not looked at yet. */
export type Json = Readonly<Record<string, unknown>>

/** A reply of the library, read to its end. */
export interface Answer {
  readonly ok: boolean
  readonly status: number
  /** Null where it is no JSON object: an empty body, or one that the library did not write. */
  readonly body: Json | null
  /** What it says as a refusal. */
  readonly problem: PosternProblem
  /**
   * Why there is no session any more, by the library's own word: the code, or null for its plain 401. Undefined for
   * every other reply, such as a proxy's 401.
   */
  readonly ended: string | null | undefined
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** The refusal in a reply. Its body is read. */
export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  let body: unknown = null
  try {
    body = JSON.parse(text)
  } catch {
    // Not the library's.
  }
  const { ok, status } = response
  const known = isObject(body) ? body : null
  const retryAfter = Number(response.headers.get('retry-after')) || null
  const refusal = problem(status, known ?? {}, retryAfter)
  return { ok, status, body: known, problem: refusal, ended: endedBy(response, known, refusal) }
}

const plainMembers = ['status', 'title', 'detail']

function endedBy(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  body: Json | null,
  { code }: PosternProblem,
): string | null | undefined {
  if (status !== 401 || body === null) return undefined
  if (code !== '')
    return code === 'audience_mismatch' || endingCodes.includes(code) ? code : undefined
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json')
  const isPlain = isProblem && plainMembers.every((name) => name in body)
  return isPlain && Object.keys(body).length === plainMembers.length ? null : undefined
}

/** Sends a request; rejects with the client's errors alone. */
export async function sent<T>(
  { fetch }: Pick<ClientEnvironment, 'fetch'>,
  request: Request,
  read: (response: Response) => T | Promise<T>,
): Promise<T> {
  try {
    return await read(await fetch(request))
  } catch (error) {
    const { signal } = request
    throw signal.aborted ? aborted(signal.reason) : networkFailure(error)
  }
}

/** The same work, but waited for no longer than until the signal. The work goes on for others. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(aborted(signal.reason))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
