import { expect, onTestFinished } from 'vitest'
import type {
  ClientChannel,
  ClientEnvironment,
  ClientLocks,
} from '../../src/client/client-environment.js'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.js'

/** What the server does with one request: answers, or fails as a network does. */
type Step = readonly [request: string, reply: (request: Request) => Response | Promise<Response>]

export interface ScriptedPage {
  readonly clock: FakeClock
  readonly environment: Partial<ClientEnvironment>
  readonly stored: Map<string, string>
  /** What the client told other tabs. */
  readonly told: unknown[]
  /** The names of the locks that were asked for. */
  readonly locked: string[]
  /** Requests as they came: `POST /login`, without the base. */
  readonly seen: Request[]
  /** The requests to expect next, in order. Any other fails the test. */
  expects(...steps: readonly Step[]): void
  /** Tells the client what another tab said. */
  hear(data: unknown): void
  /** What `document.cookie` says. Null, as it is at first, where scripts see no cookies. */
  cookie: string | null
  /** The page comes into view, perhaps from the back-forward cache. */
  show(isRestored: boolean): void
}

export const base = 'https://api.example.com/v1/auth/client'
export const user = { id: 'u1', email: 'ada@example.org', name: 'Ada', emailVerified: true }

/** An access token that says whose it is, as the real ones do. `mark` tells two of them apart. */
export function tokenOf(sub: string, mark = ''): string {
  return `${btoa('{}')}.${btoa(JSON.stringify({ sub, mark })).replaceAll('=', '')}.s`
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    Response.json(body, { status, headers })

export const grant = (mark = '', sub = 'u1', expiresIn = 900) =>
  json(200, { accessToken: tokenOf(sub, mark), tokenType: 'Bearer', expiresIn })

/** What `GET /session` answers at 2030-01-01T00:00:00Z for a session with a week left. */
export const session = (mark = '', who = user, idleExpiresAt = '2030-01-08T00:00:00.000Z') =>
  json(200, {
    accessToken: tokenOf(who.id, mark),
    tokenType: 'Bearer',
    expiresIn: 900,
    session: {
      id: 's',
      loginAt: '2030-01-01T00:00:00.000Z',
      idleExpiresAt,
      absoluteExpiresAt: null,
    },
    user: who,
  })

export const refusal = (
  status: number,
  code?: string,
  more: object = {},
  headers: Record<string, string> = {},
) => {
  const type = { 'content-type': 'application/problem+json; charset=utf-8' }
  return json(
    status,
    { status, title: 'No', detail: 'No.', code, ...more },
    { ...type, ...headers },
  )
}

export const lost = () => {
  throw new TypeError('Failed to fetch')
}

const refuse = () => {
  throw new Error('SecurityError')
}

/** Web Locks of one origin. */
function lockManager(): ClientLocks {
  let last: Promise<unknown> = Promise.resolve()
  return {
    request(_name, { signal }, work) {
      const given = new Promise<void>((resolve, reject) => {
        void last.then(() => resolve())
        signal.addEventListener('abort', () => reject(signal.reason))
      })
      const turn = given.then(work)
      last = Promise.allSettled([last, turn])
      return turn
    },
  }
}

/** A page whose server follows a script, and whose time a test moves. */
export function scriptedPage(): ScriptedPage {
  const clock = fakeClock()
  const steps: Step[] = []
  const wrong: string[] = []
  const stored = new Map<string, string>()
  const told: unknown[] = []
  const locked: string[] = []
  const seen: Request[] = []
  const locks = lockManager()
  let shown: (isRestored: boolean) => void = () => {}
  const channel: ClientChannel = {
    postMessage: (message) => told.push(message),
    onmessage: null,
    close() {},
  }
  onTestFinished(() => {
    expect({ wrong, missing: steps.map(([request]) => request) }).toEqual({
      wrong: [],
      missing: [],
    })
  })
  const page: ScriptedPage = {
    clock,
    cookie: null,
    show: (isRestored) => shown(isRestored),
    stored,
    told,
    locked,
    seen,
    expects: (...more) => steps.push(...more),
    hear: (data) => channel.onmessage?.(new MessageEvent('message', { data })),
    environment: {
      now: clock.now,
      after: clock.after,
      random: () => 0,
      pageUrl: 'https://app.example.com/page',
      channel: () => channel,
      cookies: () => page.cookie ?? refuse(),
      onShown(run) {
        shown = run
        return () => {}
      },
      storage: {
        getItem: (key) => stored.get(key) ?? null,
        setItem: (key, value) => stored.set(key, value),
      },
      locks: {
        request(name, options, work) {
          locked.push(name)
          return locks.request(name, options, work)
        },
      },
      async fetch(request) {
        const said = `${request.method} ${request.url.replace(base, '')}`
        seen.push(request)
        const [expected = 'nothing', reply] = steps.shift() ?? []
        if (said !== expected) wrong.push(`${said} in place of ${expected}`)
        if (reply === undefined) throw new TypeError(`unexpected ${said}`)
        return reply(request)
      },
    },
  }
  return page
}
