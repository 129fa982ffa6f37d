import assert from 'node:assert/strict'
import type { SendOptions } from '../../support/hosts/http-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { expectAlive, expectEnded } from './endings.js'
import {
  type Flow,
  guardedUnavailable,
  outcomeOf,
  outcomeOfCall,
  readStale,
  sessionUnavailable,
  threwUnavailable,
  tookEffect,
} from './flow.js'
import type { Holder, World } from './world.js'

/** Three sessions of one person, each refreshed once, oldest first. */
async function threeSessions(world: World): Promise<readonly [Holder, Holder, Holder]> {
  const who = await world.person()
  const signIn = () => world.oldSession(who)
  return [await signIn(), await signIn(), await signIn()]
}

function logout(name: string, credentials: (holder: Holder) => SendOptions): Flow {
  return {
    name: `/logout ${name}`,
    options: withoutLimits,
    expects: '204',
    unavailable: sessionUnavailable,
    async prepare(world) {
      const [other, own] = await threeSessions(world)
      return {
        send: async () => outcomeOf(await world.send('POST', '/logout', credentials(own))),
        untouched: [other.bearer],
        async reached() {
          await expectEnded(world, own, ['logout'])
          await expectAlive(world, other)
        },
      }
    },
  }
}

/** From the newest and from the oldest session: endings go from the newest to the oldest. */
function logoutEverywhere(from: 'newest' | 'oldest'): Flow {
  return {
    name: `/logout everywhere from the ${from} session`,
    options: withoutLimits,
    expects: '204',
    unavailable: sessionUnavailable,
    async prepare(world) {
      const all = await threeSessions(world)
      const { bearer } = from === 'newest' ? all[2] : all[0]
      const body = { everywhere: true }
      return {
        send: async () => outcomeOf(await world.send('POST', '/logout', { bearer, body })),
        async reached() {
          for (const one of all) await expectEnded(world, one, ['logout'])
        },
      }
    },
  }
}

/** Of a session whose row was swept: its access token lives on, and ends all the same. */
const logoutEverywhereRowless: Flow = {
  name: '/logout everywhere from a session whose row is gone',
  options: withoutLimits,
  expects: '204',
  unavailable: sessionUnavailable,
  // Its own ending is the last write, and whether it was this request's is not to be told afterwards.
  ends: (struck) => (tookEffect(struck, 'sessions.update') ? ['401 session_revoked'] : []),
  // The older version of the row is what was swept; the other is live.
  leavesOut: (struck) => readStale(struck, 'refresh_tokens.get'),
  async prepare(world) {
    const [own, ...others] = await threeSessions(world)
    await world.stored.families.take(own.sessionId)
    const { bearer } = own
    const body = { everywhere: true }
    return {
      send: async () => outcomeOf(await world.send('POST', '/logout', { bearer, body })),
      async reached() {
        for (const one of others) await expectEnded(world, one, ['logout'])
        const me = await world.send('GET', '/me', { bearer })
        assert.deepEqual([me.status, me.code], [401, 'session_revoked'])
      },
    }
  },
}

/** From a session that was ended by itself: it speaks for no other. */
const logoutEverywhereEnded: Flow = {
  name: '/logout everywhere from a session that was ended',
  options: withoutLimits,
  expects: '401 session_revoked',
  unavailable: sessionUnavailable,
  leavesOut: (struck) => readStale(struck, 'refresh_tokens.get'),
  async prepare(world) {
    const [other, own] = await threeSessions(world)
    await world.host.auth[world.surface].terminateSession(own.sessionId)
    const { bearer } = own
    const body = { everywhere: true }
    return {
      send: async () => outcomeOf(await world.send('POST', '/logout', { bearer, body })),
      untouched: [other.bearer],
      reached: () => expectAlive(world, other),
    }
  },
}

const logoutAgain: Flow = {
  name: '/logout of a session that was ended',
  options: withoutLimits,
  expects: '204',
  unavailable: sessionUnavailable,
  async prepare(world) {
    const [, own] = await threeSessions(world)
    await world.host.auth[world.surface].terminateSession(own.sessionId)
    return {
      send: async () => outcomeOf(await world.send('POST', '/logout', { bearer: own.bearer })),
      reached: () => expectEnded(world, own, ['admin']),
    }
  },
}

const terminateSession: Flow = {
  name: 'terminateSession',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const [other, own] = await threeSessions(world)
    const { terminateSession: terminate } = world.host.auth[world.surface]
    return {
      send: () => outcomeOfCall(() => terminate(own.sessionId)),
      untouched: [other.bearer],
      async reached() {
        await expectEnded(world, own, ['admin'])
        await expectAlive(world, other)
      },
    }
  },
}

/** Its row expired and was swept; an access token may live on. */
const terminateSwept: Flow = {
  name: 'terminateSession of a session whose row is gone',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  // The older version of the row is what was swept.
  leavesOut: (struck) => readStale(struck, 'refresh_tokens.get'),
  async prepare(world) {
    const [, own] = await threeSessions(world)
    await world.stored.families.take(own.sessionId)
    const { terminateSession: terminate } = world.host.auth[world.surface]
    return {
      send: () => outcomeOfCall(() => terminate(own.sessionId)),
      async reached() {
        const me = await world.send('GET', '/me', { bearer: own.bearer })
        assert.deepEqual([me.status, me.code], [401, 'session_revoked'])
        assert.equal((await world.stored.sessions.get(own.sessionId))?.active, false)
      },
    }
  },
}

const listSessions: Flow = {
  name: 'listSessions',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const all = await threeSessions(world)
    const { list } = world.host.auth[world.surface].sessions
    return {
      send: () => outcomeOfCall(() => list(all[0].userId)),
      untouched: all.map(({ bearer }) => bearer),
      async reached() {
        const listed = await list(all[0].userId)
        const ids = all.map(({ sessionId }) => sessionId)
        assert.deepEqual(listed.map(({ id }) => id).sort(), ids.sort())
      },
    }
  },
}

const terminateSessionsOf: Flow = {
  name: 'terminateSessionsOf',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const all = await threeSessions(world)
    const { terminateSessionsOf: terminate } = world.host.auth[world.surface]
    return {
      send: () => outcomeOfCall(() => terminate(all[0].userId)),
      async reached() {
        for (const one of all) await expectEnded(world, one, ['admin'])
      },
    }
  },
}

const terminateAllSessions: Flow = {
  name: 'terminateAllSessions',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const all = await threeSessions(world)
    const [swept, ...rest] = all
    await world.stored.families.take(swept.sessionId)
    const given = { issuedBefore: world.host.clock.now(), surfaces: [world.surface] }
    return {
      send: () => outcomeOfCall(() => world.host.auth.terminateAllSessions(given)),
      async reached() {
        for (const one of rest) await expectEnded(world, one, ['admin'])
        const me = await world.send('GET', '/me', { bearer: swept.bearer })
        assert.deepEqual([me.status, me.code], [401, 'session_revoked'])
      },
    }
  },
}

const disable: Flow = {
  name: 'users.update that disables',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const all = await threeSessions(world)
    const { users } = world.host.auth[world.surface]
    return {
      send: () => outcomeOfCall(() => users.update(all[0].userId, { enabled: false })),
      async reached() {
        assert.equal((await world.stored.users.get(all[0].userId))?.enabled, false)
        for (const one of all) await expectEnded(world, one, ['admin'])
      },
    }
  },
}

const endedBearer: Flow = {
  name: '/me with a token of a session that was ended',
  options: withoutLimits,
  expects: '401 session_revoked',
  unavailable: guardedUnavailable,
  // Nothing else is asked about the session here: the denylist's promise is all there is.
  leavesOut: (struck) => readStale(struck, 'denylist.find'),
  async prepare(world) {
    const [, own] = await threeSessions(world)
    await world.host.auth[world.surface].terminateSession(own.sessionId)
    return {
      send: async () => outcomeOf(await world.send('GET', '/me', { bearer: own.bearer })),
      reached: () => expectEnded(world, own, ['admin']),
    }
  },
}

export const endingFlows: readonly Flow[] = [
  logout('by access token', ({ bearer }) => ({ bearer })),
  logout('by cookie', ({ cookie }) => ({ cookie })),
  logout('by a refresh token in the body', ({ refreshToken }) => ({ body: { refreshToken } })),
  logoutEverywhere('newest'),
  logoutEverywhere('oldest'),
  logoutEverywhereRowless,
  logoutEverywhereEnded,
  logoutAgain,
  terminateSession,
  terminateSwept,
  listSessions,
  terminateSessionsOf,
  terminateAllSessions,
  disable,
  endedBearer,
]
