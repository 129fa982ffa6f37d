import type { ClientChannel, ClientEnvironment } from './client-environment.js'
import type { Answer, Json } from './exchange.js'
import { type Grant, grantOf, subjectOf } from './grant.js'
import { networkFailure } from './postern-error.js'
import { settled } from './refresh-door.js'
import { type RotationNotes, rotationNotes } from './rotation-notes.js'
import { type SessionState, type StateKeeper, stateKeeper } from './session-state.js'
import { type Hold, tabLock } from './tab-lock.js'

/** What tabs tell each other: that the session may have changed, or that a rotation begins. */
type Hint = 'session' | 'rotation'

const version = 1
const ignore = () => {}

/** The session of a browser as one tab knows it, and everything that changes the refresh cookie. */
export class SessionKeeper {
  /** Runs what sends or changes the refresh cookie, one at a time among the tabs of the origin. */
  readonly hold: Hold
  readonly state: StateKeeper = stateKeeper()
  /** The access token; null where there is no session, or none is known yet. */
  token: string | null = null
  readonly #environment: ClientEnvironment
  readonly #base: string
  readonly #surface: string
  readonly #notes: RotationNotes
  readonly #channel: ClientChannel | null
  #dueAt = 0
  #expiresAt = 0
  /** The rotation that the token comes from or came after. */
  #rotatedAt = 0
  /** Half the idle window in milliseconds, or less; null where it is not known. */
  #halfIdle: number | null = null
  #renewing: Promise<void> | null = null
  #restoring: Promise<SessionState> | null = null

  /** `base` is the address below which the surface's operations are. */
  constructor(base: string, surface: string, environment: ClientEnvironment) {
    const name = `postern:${base}`
    this.#environment = environment
    this.#base = base
    this.#surface = surface
    this.hold = tabLock(name, environment)
    this.#notes = rotationNotes(name, environment)
    this.#channel = environment.channel?.(name) ?? null
    if (this.#channel) this.#channel.onmessage = ({ data }) => this.#heard(data)
  }

  userId(): string | null {
    const state = this.state.get()
    return state.status === 'signedIn' ? state.user.id : null
  }

  /** Finds out who is signed in. Rejects, and changes nothing, where that cannot be found out now. */
  restore(): Promise<SessionState> {
    this.#restoring ??= this.#restored().finally(() => {
      this.#restoring = null
    })
    return this.#restoring
  }

  async #restored(): Promise<SessionState> {
    try {
      // The browser may hold a retired cookie, which `session` takes and does not replace.
      if (this.#notes.unansweredSince() > 0) await this.renew()
      else await this.hold(() => this.#ask())
    } catch (error) {
      if (this.state.get().status !== 'signedOut') throw error
    }
    this.fresh().catch(ignore)
    return this.state.get()
  }

  /** Renews the token where that is due. With a token that is still good, only an end rejects. */
  async fresh(): Promise<void> {
    if (this.token === null || this.#environment.now() < this.#dueAt) return
    try {
      await this.renew()
    } catch (error) {
      if (this.token === null || this.#environment.now() >= this.#expiresAt) throw error
    }
  }

  /** Takes a new token. All who ask at once wait for the same. */
  renew(): Promise<void> {
    const { token } = this
    this.#renewing ??= this.hold(async () => {
      // A login or a sign-out came first.
      if (this.token !== token || this.state.get().status === 'signedOut') return
      const isRotatedElsewhere = this.#notes.rotatedAt() !== this.#rotatedAt
      if (isRotatedElsewhere && this.#notes.unansweredSince() === 0) await this.#ask()
      else await this.rotate()
    }).finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  /** To be called while the lock is held. */
  async rotate(): Promise<void> {
    const { now } = this.#environment
    const began = now()
    const rotatedAt = this.#notes.rotatedAt()
    const unansweredSince = this.#notes.unansweredSince()
    this.#notes.write(rotatedAt, began)
    this.#tell('rotation')
    const isLost = began - unansweredSince < 10_000
    const url = `${this.#base}/refresh-cookie`
    const outcome = await settled(this.#environment, 'POST', url, isLost)
    // What refused did not rotate, so that all is as before.
    if (!outcome.isLost) this.#notes.write(rotatedAt, unansweredSince)
    const grant = this.#grant(outcome.answer, false)
    this.#notes.write(now(), 0)
    // Another user may have signed in: the token of one is never used while the other is shown.
    if (subjectOf(grant.accessToken) === this.userId()) this.#take(grant)
    else await this.#ask()
  }

  /** Who is signed in, and a token. To be called while the lock is held. */
  async #ask(isHinted = false): Promise<void> {
    const url = `${this.#base}/session`
    const { answer } = await settled(this.#environment, 'GET', url, false)
    const grant = this.#grant(answer, isHinted)
    const { session, user }: Json = answer?.body ?? {}
    const idleExpiresAt = Date.parse(String(Object(session).idleExpiresAt))
    const now = this.#environment.now()
    const rotatedAt = this.#notes.rotatedAt()
    // Not less than the token allows, in case the machine's clock is wrong.
    this.#halfIdle = Math.max((idleExpiresAt - (rotatedAt || now)) / 2, grant.expiresIn * 500)
    this.#take(grant)
    this.#dueAt = Math.min(this.#dueAt, rotatedAt + this.#halfIdle)
    this.state.set({ status: 'signedIn', user: Object(user) })
  }

  /** The token that was given, or the session is over, or it is not known whether it is. */
  #grant(answer: Answer | null, isHinted: boolean): Grant {
    const grant = answer && grantOf(answer)
    if (grant) return grant
    if (answer?.status === 401 && answer.body) {
      this.#notes.write(0, 0)
      this.end(answer.problem.code || null, isHinted)
    }
    throw answer?.problem ?? networkFailure(null)
  }

  #take({ accessToken, expiresIn }: Grant): void {
    const now = this.#environment.now()
    this.token = accessToken
    this.#rotatedAt = this.#notes.rotatedAt()
    this.#expiresAt = now + expiresIn * 1000
    // A token lives no longer than the idle window, so half its life is never too late.
    this.#dueAt = now + Math.min(expiresIn * 900, this.#halfIdle ?? expiresIn * 500)
  }

  /** A login was answered with tokens. To be called while the lock is held. */
  begin(grant: Grant, user: object): void {
    this.#notes.write(this.#environment.now(), 0)
    this.#halfIdle = null
    this.#take(grant)
    this.state.set({ status: 'signedIn', user: Object(user) })
    this.#tell('session')
  }

  /** The session is over, for this reason. */
  end(reason: string | null, isHinted = false): void {
    const wasSignedIn = this.token !== null
    this.token = null
    this.state.set({ status: 'signedOut', reason })
    if (wasSignedIn && !isHinted) this.#tell('session')
  }

  /** The account was changed, or deleted. To be called while the lock is held. */
  async reread(): Promise<void> {
    await this.#ask().catch(ignore)
    this.#tell('session')
  }

  close(): void {
    this.#channel?.close()
  }

  #tell(kind: Hint): void {
    this.#channel?.postMessage({ v: version, surface: this.#surface, kind })
  }

  /** A hint and no more: what it is about is asked of the server. */
  #heard(data: unknown): void {
    const { v, surface, kind }: Json = Object(data)
    if (v !== version || surface !== this.#surface) return
    if (kind === 'session') this.hold(() => this.#ask(true)).catch(ignore)
    // Where the other tab goes away amid it, this one finishes it.
    else if (this.token !== null) this.hold(() => this.#finish()).catch(ignore)
  }

  async #finish(): Promise<void> {
    if (this.#notes.unansweredSince() > 0) await this.rotate()
  }
}
