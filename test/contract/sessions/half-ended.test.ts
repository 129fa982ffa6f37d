import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, person, signIn } from '../../support/people/people.js'

/** "Sign out everywhere", cut off after the first of its writes. */
async function endHalf(host: ContractHost, surface: Surface, userId: string): Promise<void> {
  const { users } = storedIn(host, surface)
  const user = await users.get(userId)
  const { sessionEpoch = 0, deviceEpoch = 0 } = user ?? {}
  const raised = { sessionEpoch: sessionEpoch + 1, deviceEpoch: deviceEpoch + 1 }
  expect(
    await users.update(userId, { sessionEpoch }, { ...raised, keptSessionId: null }),
  ).not.toBeNull()
}

eachHost.describe('a session that an unfinished ending of all has reached', (kind) => {
  eachSurface.describe((surface) => {
    it('is not opened again by a change of password, which keeps it', async () => {
      const host = await openHost({}, kind)
      const who = await person(host, surface)
      const session = await signIn(host, surface, who)
      await endHalf(host, surface, who.id)
      const body = { currentPassword: goodPassword, newPassword: otherPassword }
      const path = `/v1/auth/${surface}/me/password`
      const change = await host.send('POST', path, { bearer: session.bearer, body })
      expect(outcomeOf(change)).toBe('401 session_revoked')
      const { cookie } = session
      const refresh = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie })
      expect(refresh.status).toBe(401)
      await signIn(host, surface, who)
    })

    it('is ended by a sign-out everywhere of another session that was reached before', async () => {
      const host = await openHost({}, kind)
      const who = await person(host, surface)
      const [asking, other] = [await signIn(host, surface, who), await signIn(host, surface, who)]
      await endHalf(host, surface, who.id)
      // The request that began it got as far as the other one, and died.
      const path = `/v1/auth/${surface}/logout`
      const single = await host.send('POST', path, { bearer: other.bearer, body: {} })
      expect(single.status).toBe(204)
      const newer = await signIn(host, surface, who)
      const body = { everywhere: true }
      const again = await host.send('POST', path, { cookie: other.cookie, body })
      expect(again.status).toBe(204)
      const me = (bearer: string) => host.send('GET', `/v1/auth/${surface}/me`, { bearer })
      expect(outcomeOf(await me(asking.bearer))).toBe('401 session_revoked')
      expect((await me(newer.bearer)).status).toBe(200)
    })
  })
})

eachSurface.it(
  'the token of a signed-out session does not end the one that a change of password kept',
  async (surface) => {
    const host = await openHost()
    const who = await person(host, surface)
    const [lost, kept] = [await signIn(host, surface, who), await signIn(host, surface, who)]
    const at = (path: string) => `/v1/auth/${surface}${path}`
    const single = await host.send('POST', at('/logout'), { bearer: lost.bearer, body: {} })
    expect(single.status).toBe(204)
    const change = { currentPassword: goodPassword, newPassword: otherPassword }
    const { bearer } = kept
    const changed = await host.send('POST', at('/me/password'), { bearer, body: change })
    expect(changed.status).toBe(204)
    const everywhere = { cookie: lost.cookie, body: { everywhere: true } }
    const refused = await host.send('POST', at('/logout'), everywhere)
    expect(outcomeOf(refused)).toBe('401 session_revoked')
    expect((await host.send('GET', at('/me'), { bearer })).status).toBe(200)
  },
)
