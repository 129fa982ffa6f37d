import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { refreshCookieOf } from '../../support/hosts/http-client.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  otherPassword,
  type Person,
  type SignedIn,
  signedInApp,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { pass, sessionOf } from '../events/event-scenario.js'

const second = 1000
const day = 24 * 60 * 60 * second

interface Scene {
  readonly host: ContractHost
  readonly surface: Surface
  readonly who: Person & SignedIn
}

interface State {
  readonly name: string
  /** The cookie to show, where it is not the one of the login. */
  readonly lead: (scene: Scene) => Promise<string | undefined>
  readonly isFound: boolean
  /** What `session.overdue` says; null for a cookie that is refused without an end to come. */
  readonly overdue?: 'replay' | 'max_age' | 'admin'
  readonly settings?: HostOptions['settings']
  /** What a refresh with the same cookie says afterwards. */
  readonly refreshed: string
}

async function refresh({ host, surface }: Scene, cookie: string): Promise<string> {
  return refreshCookieOf(
    await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie }),
    surface,
  )
}

const rowOf = ({ host, surface, who }: Scene) =>
  ({ families: storedIn(host, surface).families, id: sessionOf(who.refreshToken) }) as const

const states: readonly State[] = [
  {
    name: 'the newest cookie',
    lead: (scene) => refresh(scene, scene.who.cookie),
    isFound: true,
    refreshed: '200',
  },
  {
    name: 'the one before, shortly after a refresh',
    lead: async (scene) => void (await refresh(scene, scene.who.cookie)),
    isFound: true,
    refreshed: '200',
  },
  {
    name: 'the one before, later',
    async lead(scene) {
      await refresh(scene, scene.who.cookie)
      await pass(scene.host, 11 * second)
      return undefined
    },
    isFound: false,
    overdue: 'replay',
    refreshed: '401 refresh_token_reused',
  },
  {
    name: 'after sign-out',
    async lead({ host, surface, who: { cookie } }) {
      await host.send('POST', `/v1/auth/${surface}/logout`, { cookie })
      return undefined
    },
    isFound: false,
    refreshed: '401 session_revoked',
  },
  {
    name: 'after sign-out everywhere, in another session',
    async lead({ host, surface, who }) {
      const { bearer } = await signIn(host, surface, who)
      const body = { everywhere: true }
      await host.send('POST', `/v1/auth/${surface}/logout`, { bearer, body })
      return undefined
    },
    isFound: false,
    refreshed: '401 session_revoked',
  },
  {
    name: 'after the password was changed in another session',
    async lead({ host, surface, who }) {
      const { bearer } = await signIn(host, surface, who)
      const body = { currentPassword: who.password, newPassword: otherPassword }
      const changed = await host.send('POST', `/v1/auth/${surface}/me/password`, { bearer, body })
      expect(changed.status).toBe(204)
      return undefined
    },
    isFound: false,
    refreshed: '401 session_revoked',
  },
  {
    name: 'whose epoch is past, before its end was carried out',
    async lead({ host, surface, who: { id } }) {
      const { users } = storedIn(host, surface)
      const user = await users.get(id)
      await users.update(id, { kind: '' }, { sessionEpoch: (user?.sessionEpoch ?? 0) + 1 })
      return undefined
    },
    isFound: false,
    overdue: 'admin',
    refreshed: '401 session_revoked',
  },
  {
    name: 'on the denylist, before its end was carried out',
    async lead(scene) {
      const id = `${scene.surface}:session:${rowOf(scene).id}`
      const expiresAt = scene.host.clock.now() + day
      await scene.host.backend.denylist.put([{ id, reason: 'revoked', expiresAt }])
      return undefined
    },
    isFound: false,
    overdue: 'admin',
    refreshed: '401 session_revoked',
  },
  {
    name: 'of a user who was disabled past the library',
    async lead({ host, surface, who: { id } }) {
      await storedIn(host, surface).users.update(id, { kind: '' }, { enabled: false })
      return undefined
    },
    isFound: false,
    overdue: 'admin',
    refreshed: '401 session_revoked',
  },
  {
    name: 'of a user who was disabled',
    async lead({ host, surface, who: { id } }) {
      await host.auth[surface].users.update(id, { enabled: false })
      return undefined
    },
    isFound: false,
    refreshed: '401 session_revoked',
  },
  {
    name: 'of a user who was deleted',
    async lead({ host, surface, who: { id } }) {
      await host.auth[surface].users.delete(id)
      return undefined
    },
    isFound: false,
    refreshed: '401 session_revoked',
  },
  {
    name: 'at the end of the idle window',
    async lead({ host }) {
      await pass(host, 7 * day)
      return undefined
    },
    isFound: false,
    refreshed: '401 refresh_token_expired',
  },
  {
    name: 'over the cap',
    async lead({ host }) {
      await pass(host, 3_600_001)
      return undefined
    },
    isFound: false,
    overdue: 'max_age',
    settings: { sessionAbsoluteTTL: '1h' },
    refreshed: '401 session_max_age_reached',
  },
  {
    name: 'newer than its row',
    async lead(scene) {
      const newest = await refresh(scene, scene.who.cookie)
      const { families, id } = rowOf(scene)
      await families.update(id, { revokedAt: null }, { generation: 1 })
      return newest
    },
    isFound: false,
    overdue: 'admin',
    refreshed: '401 refresh_token_invalid',
  },
  {
    name: 'of an app, whose token is none for a cookie',
    async lead({ host, surface }) {
      return (await signedInApp(host, surface)).cookie
    },
    isFound: false,
    refreshed: '401 refresh_token_invalid',
  },
  {
    name: 'without a row',
    async lead(scene) {
      const { families, id } = rowOf(scene)
      await families.take(id)
      return undefined
    },
    isFound: false,
    refreshed: '401 refresh_token_invalid',
  },
]

/** All that a session's end could change. */
async function storedOf(scene: Scene): Promise<unknown> {
  const { families, sessions, users } = storedIn(scene.host, scene.surface)
  const { id } = rowOf(scene)
  return Promise.all([
    families.get(id),
    sessions.get(id),
    users.get(scene.who.id),
    scene.host.backend.denylist.find([`${scene.surface}:session:${id}`]),
  ])
}

const page = { use: 'page' } as const

/** What the same cookie gets afterwards: a refresh is the one that ends the session. */
async function expectRefreshed(scene: Scene, cookie: string, state: State): Promise<void> {
  const at = (path: string) => `/v1/auth/${scene.surface}${path}`
  const { host } = scene
  expect(outcomeOf(await host.send('POST', at('/refresh-cookie'), { cookie }))).toBe(
    state.refreshed,
  )
  const viewed = await host.send('GET', at('/session'), { cookie })
  expect(viewed.status).toBe(state.isFound ? 200 : 401)
}

/** What is told of two looks: once that the session was seen, or that its end is due. */
function expectTold({ host, surface, who }: Scene, { isFound, overdue }: State): void {
  const due = eventsOf(host, 'session.overdue')
  const expected = { surface, userId: who.id, reason: overdue }
  expect(due).toMatchObject(overdue === undefined ? [] : [expected])
  expect(eventsOf(host, 'session.viewed')).toHaveLength(isFound ? 1 : 0)
  expect(host.events).toHaveLength(isFound || overdue !== undefined ? 1 : 0)
}

eachSampleStore.describe('sessionOf decides as GET session does', (kind) => {
  eachSurface.describe((surface) => {
    it.each(states)('$name', async (state) => {
      const settings = { ...withoutLimits.settings, ...state.settings }
      const host = await openHost({ ...withoutLimits, settings }, kind)
      const scene = { host, surface, who: await signedInPerson(host, surface) }
      const cookie = (await state.lead(scene)) ?? scene.who.cookie
      await host.auth.close()
      const before = await storedOf(scene)
      host.events.splice(0)

      for (let look = 0; look < 2; look += 1) {
        const found = await host.auth[surface].sessionOf(
          { method: 'GET', headers: { cookie } },
          page,
        )
        expect(found?.user.id).toBe(state.isFound ? scene.who.id : undefined)
      }
      await host.auth.close()
      expect(await storedOf(scene)).toEqual(before)
      expectTold(scene, state)
      await expectRefreshed(scene, cookie, state)
    })
  })
})
