import type { ClientEnvironment } from './client-environment.js'
import { endingCodes } from './ending-codes.js'
import type { Answer, Json } from './exchange.js'
import { fresh } from './fresh.js'
import { type Grant, grantOf, subjectOf } from './grant.js'
import { joined } from './joined.js'
import { besidesOf, type Kept, type KeptTokens } from './kept-tokens.js'
import { ownLock } from './own-lock.js'
import { networkFailure, problem } from './postern-error.js'
import { settled } from './refresh-door.js'
import type { SessionKeeper } from './session-keeper.js'
import { type SessionUser, stateKeeper } from './session-state.js'

const json = { 'content-type': 'application/json' }
const ignore = () => {}

/** A grant with the refresh token that came with it. */
interface AppGrant extends Grant {
  readonly refreshToken: string
  /** Seconds of the idle window; null where the reply did not say. */
  readonly refreshExpiresIn: number | null
}

function appGrantOf(answer: Pick<Answer, 'ok' | 'body'>): AppGrant | null {
  const grant = grantOf(answer)
  const { refreshToken, refreshExpiresIn }: Json = answer.body ?? {}
  if (!grant || typeof refreshToken !== 'string') return null
  return {
    ...grant,
    refreshToken,
    refreshExpiresIn: typeof refreshExpiresIn === 'number' ? refreshExpiresIn : null,
  }
}

/**
 * The session of an app, whose refresh token is kept by `tokens`. What is kept there counts, not what this process
 * remembers. `base` is the address below which the surface's operations are.
 */
export function appSession(
  base: string,
  tokens: KeptTokens,
  environment: ClientEnvironment,
): SessionKeeper {
  const { now } = environment
  const state = stateKeeper()
  const hold = ownLock()
  /** A token that came and could not be written, and the one in storage that it replaces. */
  let unwritten: { readonly old: string; readonly next: string } | null = null
  /** How often a session ended here: what is written amid an end is not used. */
  let ends = 0
  /** True while the token of a login is written, which an end of the session before it leaves alone. */
  let isBeginning = false

  async function rotate(): Promise<void> {
    const began = now()
    let since: number | undefined
    // It also shows that the storage can be written to, before a token is used up.
    const { refreshToken, recognitionId } = await tokens.update((kept) => {
      since = kept.rotatingSince
      const shown = kept.refreshToken === unwritten?.old ? unwritten?.next : kept.refreshToken
      return shown === undefined ? kept : { ...kept, refreshToken: shown, rotatingSince: began }
    })
    if (refreshToken === undefined) {
      end(null)
      throw problem(401, {}, null)
    }
    unwritten = null
    const body = JSON.stringify({ refreshToken, recognitionId })
    const how = { method: 'POST', headers: json, body } as const
    const wasLost = since !== undefined && began - since < 10_000
    const { answer, isLost } = await settled(environment, `${base}/refresh`, how, wasLost)
    const grant = answer && appGrantOf(answer)
    if (grant) await keep(refreshToken, grant)
    else {
      if (answer?.ended) end(answer.ended)
      else if (!isLost) await tokens.update(withoutNote).catch(ignore)
      throw answer?.problem ?? networkFailure(null)
    }
  }

  /** Writes the token that came in place of `old`, and only then uses what came with it. */
  async function keep(old: string, grant: AppGrant): Promise<void> {
    const { refreshToken } = grant
    unwritten = { old, next: refreshToken }
    const endsBefore = ends
    const kept = await tokens.update((kept) => {
      return kept.refreshToken === old ? { ...withoutNote(kept), refreshToken } : kept
    })
    unwritten = null
    // The session ended meanwhile, or another process signed in or was first.
    const owner = subjectOf(grant.accessToken)
    const isOver = ends !== endsBefore || subjectOf(kept.refreshToken ?? '') !== owner
    if (isOver) throw problem(401, {}, null)
    const user = state.userId()
    // The token of one user is never used while another is shown.
    if (user !== null && user !== owner) state.set({ status: 'loading' })
    take(grant)
  }

  function take({ accessToken, expiresIn, refreshExpiresIn }: AppGrant): void {
    session.token = accessToken
    session.expiresAt = now() + expiresIn * 1000
    session.dueAt = now() + Math.min(expiresIn * 900, (refreshExpiresIn ?? expiresIn) * 500)
  }

  /** Asks who is signed in. Call it with a token, while the lock is held. */
  async function ask(): Promise<void> {
    for (let isAgain = false; ; isAgain = true) {
      const headers = { authorization: `Bearer ${session.token}` }
      const how = { method: 'GET', headers } as const
      const { answer } = await settled(environment, `${base}/me`, how, false)
      const user = answer && userOf(answer)
      if (user) {
        state.set({ status: 'signedIn', user })
        return
      }
      if (answer?.status === 401 && endingCodes.includes(answer.problem.code)) {
        end(answer.problem.code)
      }
      if (isAgain || !isPlain(answer)) throw answer?.problem ?? networkFailure(null)
      // It ran out on the way, or this device's clock is wrong.
      await rotate()
    }
  }

  function end(reason: string | null): void {
    session.token = null
    unwritten = null
    ends += 1
    state.set({ status: 'signedOut', reason })
    if (isBeginning) return
    // Where that fails, the server refuses the token at the next start.
    tokens.update(({ refreshToken, rotatingSince, ...besides }) => besides).catch(ignore)
  }

  const session = {
    hold,
    state,
    token: null as string | null,
    dueAt: 0,
    expiresAt: 0,
    rotate,
    end,
    restore: joined(async () => {
      try {
        await fresh(session, environment)
        await hold(async () => {
          if (session.token === null) await rotate()
          await ask()
        })
      } catch (error) {
        if (state.get().status !== 'signedOut') throw error
      }
      return state.get()
    }),
    renew: joined(() => {
      const { token } = session
      return hold(async () => {
        // A login or a sign-out came first.
        if (session.token !== token || token === null) return
        await rotate()
        // Storage had the tokens of another user. Without this question, the state is `loading` until the next call.
        if (state.get().status === 'loading') await ask()
      })
    }),
    async begin(_grant: Grant, reply: Json) {
      const given = appGrantOf({ ok: true, body: reply })
      // A login by cookie, which would be gone with the process.
      if (given === null)
        throw new TypeError('no refresh token came: sign in by POST /mobile/login')
      const { refreshToken } = given
      isBeginning = true
      try {
        await tokens.update(({ registrationKey, codeKey, ...kept }) => {
          return { ...withoutNote(kept), ...besidesOf(reply), refreshToken }
        })
      } finally {
        isBeginning = false
      }
      unwritten = null
      take(given)
      state.set({ status: 'signedIn', user: Object(reply['user']) })
    },
    reread: () => ask().catch(ignore),
  } satisfies SessionKeeper
  return session
}

/** The account in a reply, as a login shows it. */
function userOf({ ok, body }: Answer): SessionUser | null {
  const { id, email, name, emailVerified }: Json = body ?? {}
  return ok && typeof id === 'string' ? Object({ id, email, name, emailVerified }) : null
}

/** A 401 that a new token may meet. */
const isPlain = (answer: Answer | null) => answer?.status === 401 && answer.problem.code === ''

const withoutNote = ({ rotatingSince, ...kept }: Kept): Kept => kept
