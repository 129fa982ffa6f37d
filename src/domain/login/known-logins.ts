import { sha256 } from '../../crypto/secrets.js'
import { placeOf } from '../../engine/login-risk-rules.js'
import { type KnownLogin, knownLoginMs } from '../../model/known-login.js'
import type { PastLogin } from '../../ports/risk-scorer.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SurfaceContext } from '../context/surface-context.js'

/** The logins of the last ninety days, one for each device and network. */
export interface KnownLogins {
  /** The newest first. */
  of(userId: string): Promise<readonly PastLogin[]>
  /** Beside the reply. One that is lost makes the next login from there a new one. */
  remember(userId: string, login: PastLogin): void
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'background'>

const mostKnown = 1000

export function createKnownLogins(deps: Deps): KnownLogins {
  const { knownLogins } = deps.collections

  /** A login that is remembered late does not take the place of a newer one. */
  async function write(userId: string, { at, ip, userAgent, deviceId, ...how }: PastLogin) {
    const id = sha256(JSON.stringify([userId, ...placeOf({ ip, userAgent, deviceId })]))
    const { method: loginMethod, mfaMethod } = how
    const facts = { loginAt: at, ip, userAgent, deviceId, loginMethod, mfaMethod }
    const next = { ...facts, expiresAt: at + knownLoginMs }
    await retryOnConflict(3, async () => {
      const updated = await knownLogins.update(id, { userId, loginAt: { lte: at } }, next)
      if (updated !== null || (await knownLogins.insert({ id, userId, ...next }))) return undefined
      const newest = await knownLogins.get(id)
      return newest === null || newest.loginAt <= at ? conflict : undefined
    })
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

    remember(userId, login) {
      deps.background.run('remembering a login', () => write(userId, login))
    },
  }
}

function pastLogin({ loginAt, ip, userAgent, deviceId, loginMethod, mfaMethod }: KnownLogin) {
  return { at: loginAt, ip, userAgent, deviceId, method: loginMethod, mfaMethod }
}
