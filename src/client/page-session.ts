import type { ClientEnvironment } from './client-environment.js'
import type { Answer, Json } from './exchange.js'
import { fresh } from './fresh.js'
import { type Grant, grantOf, subjectOf } from './grant.js'
import { joined } from './joined.js'
import { type Hold, ownLock } from './own-lock.js'
import { networkFailure } from './postern-error.js'
import { settled } from './refresh-door.js'
import type { SessionKeeper } from './session-keeper.js'
import { type SessionUser, stateKeeper } from './session-state.js'

/** What tabs tell each other: that the session may have changed, or that a rotation begins. */
type Hint = 'session' | 'rotation'

export interface PageSession extends SessionKeeper {
  /** Stops listening to other tabs. */
  close(): void
}

const version = 1
const ignore = () => {}

/** Milliseconds between two questions of a page that comes into view again and again. */
const askEvery = 5000

/**
 * The session of a browser as one tab knows it. Its refresh token is a cookie, which all tabs share, and so is its
 * lock. `base` is the address below which the surface's operations are.
 */
export function pageSession(
  base: string,
  surface: string,
  environment: ClientEnvironment,
): PageSession {
  const name = `postern:${base}`
  const { now } = environment
  const state = stateKeeper()
  const hold = tabLock(name, environment)
  const notes = rotationNotes(name, environment)
  const channel = environment.channel?.(name)
  const isMarked = markerOf(surface, environment)
  const isOwnOrigin = new URL(base).origin === new URL(environment.pageUrl).origin
  let lookedAt = Number.NEGATIVE_INFINITY
  /** The rotation that the token comes from or came after. */
  let takenAt = 0
  /** Half the idle window in milliseconds, or less; null where it is not known. */
  let halfIdle: number | null = null

  async function rotate(isTold = true): Promise<void> {
    const began = now()
    const rotatedAt = notes.rotatedAt()
    const unansweredSince = notes.unansweredSince()
    notes.write(rotatedAt, began)
    if (isTold) tell('rotation')
    const isLost = began - unansweredSince < 10_000
    // The browser ends what a page that goes away began, and stores the cookie.
    const how = { method: 'POST', keepalive: true } as const
    const outcome = await settled(environment, `${base}/refresh-cookie`, how, isLost)
    // What refused did not rotate, so that all is as before.
    if (!outcome.isLost) notes.write(rotatedAt, unansweredSince)
    const grant = granted(outcome.answer, false)
    notes.write(now(), 0)
    // Another user may have signed in: the token of one is never used while the other is shown.
    if (subjectOf(grant.accessToken) === state.userId()) take(grant)
    else await ask()
  }

  /** Asks who is signed in, and for a token. Call it while the lock is held. */
  async function ask(isHinted = false): Promise<void> {
    const { answer } = await settled(environment, `${base}/session`, { method: 'GET' }, false)
    const grant = granted(answer, isHinted)
    const { session: facts, user }: Json = answer?.body ?? {}
    const idleExpiresAt = Date.parse(String(Object(facts).idleExpiresAt))
    const rotatedAt = notes.rotatedAt()
    // Not less than the token allows, in case the machine's clock is wrong.
    halfIdle = Math.max((idleExpiresAt - (rotatedAt || now())) / 2, grant.expiresIn * 500)
    take(grant)
    session.dueAt = Math.min(session.dueAt, rotatedAt + halfIdle)
    met(Object(user), isHinted)
  }

  /** Shows who is signed in. Other tabs may show somebody else, or nobody. */
  function met(user: SessionUser, isHinted: boolean): void {
    const isOther = notes.met(user.id, isMarked() === true)
    state.set({ status: 'signedIn', user })
    if (isOther && !isHinted) tell('session')
  }

  /**
   * Whether to ask is not worth it. Only where the page would see the marker of a session: it did before, or the
   * cookie is of its own origin and nothing is known of an earlier session, whose cookie may have no marker.
   */
  function isNobodyHere(): boolean {
    if (isMarked() !== false || notes.unansweredSince() > 0) return false
    return notes.sawMarker() || (isOwnOrigin && notes.rotatedAt() === 0)
  }

  /** Finds out who is signed in. Call it while the lock is held. */
  function look(): Promise<void> {
    // The browser may hold a retired cookie, which `session` takes and does not replace.
    return notes.unansweredSince() > 0 ? rotate() : ask()
  }

  /** What was done elsewhere, by a form perhaps or by a provider, is noticed when the user comes back. */
  const lookAgain = joined(async () => {
    const { status } = state.get()
    const isWorth = status === 'signedOut' ? isMarked() === true : status === 'signedIn'
    if (!isWorth) return
    lookedAt = now()
    await hold(look)
  })

  function shown(isRestored: boolean): void {
    if (isRestored || now() - lookedAt >= askEvery) lookAgain().catch(ignore)
  }

  /** The token that was given, or the session is over, or it is not known whether it is. */
  function granted(answer: Answer | null, isHinted: boolean): Grant {
    const grant = answer && grantOf(answer)
    if (grant) return grant
    if (answer?.ended !== undefined) {
      notes.write(0, 0)
      end(answer.ended, isHinted)
    }
    throw answer?.problem ?? networkFailure(null)
  }

  function take({ accessToken, expiresIn }: Grant): void {
    session.token = accessToken
    takenAt = notes.rotatedAt()
    session.expiresAt = now() + expiresIn * 1000
    // A token lives no longer than the idle window, so half its life is never too late.
    session.dueAt = now() + Math.min(expiresIn * 900, halfIdle ?? expiresIn * 500)
  }

  function end(reason: string | null, isHinted = false): void {
    const wasSignedIn = session.token !== null
    const wasKnown = notes.met(null, notes.sawMarker())
    session.token = null
    state.set({ status: 'signedOut', reason })
    if ((wasSignedIn || wasKnown) && !isHinted) tell('session')
  }

  function tell(kind: Hint): void {
    channel?.postMessage({ v: version, surface, kind })
  }

  /** A hint and no more: what it is about is asked of the server. */
  function heard(data: unknown): void {
    const { v, surface: about, kind }: Json = Object(data)
    if (v !== version || about !== surface) return
    if (kind === 'session') hold(heardOfChange).catch(ignore)
    // Where the other tab goes away amid it, this one finishes it.
    else if (session.token !== null) finish().catch(ignore)
  }

  async function heardOfChange(): Promise<void> {
    if (isNobodyHere()) end(null, true)
    else await ask(true)
  }

  /** Completes a rotation of another tab. It does not tell the other tabs: each of them would do the same again. */
  const finish = joined(() =>
    hold(async () => {
      // Later the server no longer takes what the cookie was then.
      if (now() - notes.unansweredSince() < 10_000) await rotate(false)
    }),
  )

  const session = {
    hold,
    state,
    token: null as string | null,
    dueAt: 0,
    expiresAt: 0,
    rotate,
    end: (reason: string | null) => end(reason),
    restore: joined(async () => {
      try {
        await hold(async () => (isNobodyHere() ? end(null) : look()))
      } catch (error) {
        if (state.get().status !== 'signedOut') throw error
      }
      fresh(session, environment).catch(ignore)
      return state.get()
    }),
    renew: joined(() => {
      const { token } = session
      return hold(async () => {
        // A login or a sign-out came first.
        if (session.token !== token || state.get().status === 'signedOut') return
        const isRotatedElsewhere = notes.rotatedAt() !== takenAt
        if (isRotatedElsewhere && notes.unansweredSince() === 0) await ask()
        else await rotate()
      })
    }),
    begin(grant: Grant, { user }: Json) {
      notes.write(now(), 0)
      halfIdle = null
      take(grant)
      met(Object(user), true)
      tell('session')
    },
    async reread() {
      await ask().catch(ignore)
      tell('session')
    },
    close() {
      channel?.close()
      unwatch?.()
    },
  } satisfies PageSession
  const unwatch = environment.onShown?.(shown)
  if (channel) channel.onmessage = ({ data }) => heard(data)
  return session
}

/** Whether the cookie that goes with a session is there; null where scripts see no cookies. */
function markerOf(
  surface: string,
  { cookies }: Pick<ClientEnvironment, 'cookies'>,
): () => boolean | null {
  const marker = `${surface === 'operator' ? 'op' : 'cl'}_signed_in=1`
  return () => {
    try {
      const text = cookies?.() ?? null
      return text === null ? null : text.split('; ').some((cookie) => cookie.endsWith(marker))
    } catch {
      return null
    }
  }
}

/** When the cookie was rotated, for all tabs of the origin. No secret is among it, and nobody's name. */
export interface RotationNotes {
  /** When the last rotation, or the login, was answered. 0 where it is not known. */
  rotatedAt(): number
  /** When a rotation began whose answer has not been seen, so that the cookie may be a retired one; else 0. */
  unansweredSince(): number
  write(rotatedAt: number, unansweredSince: number): void
  /**
   * Notes who is signed in, null for nobody, and whether the marker was to be seen. True where it was somebody else
   * before, or nobody.
   */
  met(userId: string | null, isMarked: boolean): boolean
  /** Whether pages of this origin saw the marker of the last session. */
  sawMarker(): boolean
}

/** Tells one user from another, and not who it is. Never 0, which stands for nobody. */
function numberOf(id: string): number {
  let number = 7
  for (const letter of id) number = (number * 31 + (letter.codePointAt(0) ?? 0)) % 0x7fff_ffff
  return number + 1
}

/** In storage, and in this tab alone where there is none or it fails. */
function rotationNotes(
  key: string,
  { storage }: Pick<ClientEnvironment, 'storage'>,
): RotationNotes {
  let kept = ''
  const read = (place: 0 | 1 | 2 | 3): number => {
    try {
      kept = storage?.getItem(key) ?? kept
    } catch {
      // As this tab remembers it.
    }
    return Number(kept.split(',')[place]) || 0
  }
  function keep(...[rotatedAt, unansweredSince, person, marked]: readonly number[]): void {
    const whole = [rotatedAt, unansweredSince, person, marked]
    kept = whole.slice(0, marked ? 4 : person ? 3 : 2).join()
    try {
      storage?.setItem(key, kept)
    } catch {
      // A quota, or a user who refuses storage.
    }
  }
  return {
    rotatedAt: () => read(0),
    unansweredSince: () => read(1),
    write: (rotatedAt, unansweredSince) => keep(rotatedAt, unansweredSince, read(2), read(3)),
    met(userId, isMarked) {
      const [before, person] = [read(2), userId === null ? 0 : numberOf(userId)]
      if (person !== before || isMarked !== (read(3) === 1)) {
        keep(read(0), read(1), person, isMarked ? 1 : 0)
      }
      return person !== before
    },
    sawMarker: () => read(3) === 1,
  }
}

/** Milliseconds after which work goes on without the lock: longer than a rotation and the question after it. */
const patience = 30_000

/** A lock that tabs share where the browser has Web Locks, else a lock of this tab alone. */
function tabLock(name: string, { locks, after }: ClientEnvironment): Hold {
  return locks === null ? ownLock() : lockOfTabs(name, locks, after)
}

function lockOfTabs(
  name: string,
  locks: NonNullable<ClientEnvironment['locks']>,
  after: ClientEnvironment['after'],
): Hold {
  return (work) => {
    let isHeld = false
    const waiting = new AbortController()
    const cancel = after(patience, () => waiting.abort())
    const run = () => {
      isHeld = true
      cancel()
      return work()
    }
    return locks.request(name, { signal: waiting.signal }, run).catch((error: unknown) => {
      // Refused by the browser, or held for too long: the ten seconds of grace make up for it.
      if (isHeld) throw error
      return run()
    })
  }
}
