import { sha256 } from '../../crypto/secrets.js'
import { isSamePlace, placeOf, surplusBeside } from '../../engine/login-risk-rules.js'
import { type KnownLogin, knownLoginMs } from '../../model/sessions.js'
import type { PastLogin } from '../../ports/risk-scorers.js'
import type { SurfaceContext } from '../context/surface-context.js'

/** The logins of the last ninety days, one for each device and network. */
export interface KnownLogins {
  /** The newest first. */
  of(userId: string): Promise<readonly PastLogin[]>
  /**
   * Beside the reply. One that is lost makes the next login from there a new one. `history` is what `of`
   * gave for this login: what is too much of it is taken away.
   */
  remember(userId: string, login: PastLogin, history: readonly PastLogin[]): void
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'background'>

const mostKnown = 1000

export function createKnownLogins(deps: Deps): KnownLogins {
  const { knownLogins } = deps.collections

  const idOf = (userId: string, login: PastLogin): string =>
    sha256(JSON.stringify([userId, ...placeOf(login)]))

  /** A login that is remembered late does not take the place of a newer one. */
  async function write(userId: string, login: PastLogin, isSeenBefore: boolean) {
    const { at, ip, userAgent, deviceId, recognitionHash = null, method, mfaMethod } = login
    const id = idOf(userId, login)
    const facts = { loginAt: at, ip, userAgent, deviceId, recognitionHash, mfaMethod }
    const next = { ...facts, loginMethod: method, expiresAt: at + knownLoginMs }
    const insert = () => knownLogins.insert({ id, userId, ...next })
    const update = async () =>
      (await knownLogins.update(id, { userId, loginAt: { lte: at } }, next)) !== null
    // Where the insert finds one, another login from there was a moment earlier.
    if (isSeenBefore && (await update())) return
    if (!(await insert())) await update()
  }

  return {
    async of(userId) {
      const now = deps.clock.now()
      const found = await knownLogins.find({ userId }, { limit: mostKnown })
      return found
        .filter(({ expiresAt }) => expiresAt > now)
        .toSorted((a, b) => b.loginAt - a.loginAt)
        .map(pastLogin)
    },

    remember(userId, login, history) {
      deps.background.run('remembering a login', async () => {
        const isSeenBefore = history.some((past) => isSamePlace(past, login))
        await write(userId, login, isSeenBefore)
        for (const past of surplusBeside(login, history)) {
          await knownLogins.take(idOf(userId, past), { loginAt: { lte: past.at } })
        }
      })
    },
  }
}

function pastLogin({ loginAt, loginMethod, ...known }: KnownLogin): PastLogin {
  const { ip, userAgent, deviceId, recognitionHash, mfaMethod } = known
  return { at: loginAt, ip, userAgent, deviceId, recognitionHash, method: loginMethod, mfaMethod }
}
