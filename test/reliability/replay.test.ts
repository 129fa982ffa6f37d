import { afterAll, beforeAll, expect, it } from 'vitest'
import { figure } from './figures.js'
import { type Grant, grantOf, type Host, outcomeOf } from './host-client.js'
import { lineFrom } from './moving-clock.js'
import { sizes } from './sizes.js'
import { at, describeOn, inLanes, type OpenHosts, openHosts } from './stores.js'

const dead = '401 session_revoked'

/** A family after some rotations: every grant it was given, oldest first. */
async function rotatedFamily(hosts: readonly Host[], rotations: number): Promise<readonly Grant[]> {
  const grants: Grant[] = [await at(hosts, rotations).newLogin()]
  for (let done = 0; done < rotations; done += 1) {
    const { refreshToken } = at(grants, done)
    grants.push(grantOf(await at(hosts, done).refresh(refreshToken)))
  }
  return grants
}

/** What the newest refresh token and every access token are worth on a host, asked at once. */
async function worthOn(host: Host, grants: readonly Grant[]): Promise<ReadonlySet<string>> {
  const newest = at(grants, grants.length - 1)
  const replies = await Promise.all([
    host.refresh(newest.refreshToken),
    ...grants.map(({ accessToken }) => host.me(accessToken)),
  ])
  return new Set(replies.map(outcomeOf))
}

describeOn('postgres', 'figure R3: replay ends the family on every process, postgres', () => {
  let strict: OpenHosts | undefined
  let lenient: OpenHosts | undefined
  const clock = lineFrom(Date.now())
  beforeAll(async () => {
    strict = await openHosts('postgres', 2, { options: { settings: { refreshReuseGrace: '0s' } } })
    lenient = await openHosts('postgres', 2, { clock })
  })
  afterAll(() => Promise.all([strict?.close(), lenient?.close()]))

  it('the first token shown again after 1 to 10 rotations: the newest refresh token and every access token are refused at the next request', async () => {
    const hosts = strict?.hosts ?? []
    const lengths = Array.from(
      { length: 10 * sizes.replaysPerLength },
      (_, index) => 1 + (index % 10),
    )
    let checked = 0
    await inLanes(lengths.length, 4, async (index) => {
      const grants = await rotatedFamily(hosts, at(lengths, index))
      const replay = await at(hosts, index).refresh(at(grants, 0).refreshToken)
      expect(outcomeOf(replay)).toBe('401 refresh_token_reused')
      expect([...(await worthOn(at(hosts, index + 1), grants))]).toEqual([dead])
      checked += grants.length + 1
    })
    figure(
      'R3',
      'replay ends the family, 1 to 10 rotations later',
      `${lengths.length} replays: all ${checked} newest refresh and access tokens were 401 on ` +
        'the other process at the first request after the replay was answered (100 %)',
    )
  }, 300_000)

  it(`one generation late: the predecessor after the window ends ${sizes.lateReplays} families on the other process at the next request`, async () => {
    const hosts = lenient?.hosts ?? []
    const families: (readonly Grant[])[] = []
    await inLanes(sizes.lateReplays, 4, async () => {
      families.push(await rotatedFamily(hosts, 1))
    })
    for (const host of hosts) {
      await host.control('setClock', { ...clock, epoch: clock.epoch + 10_000 })
    }
    await inLanes(families.length, 4, async (index) => {
      const grants = at(families, index)
      const replay = await at(hosts, index).refresh(at(grants, 0).refreshToken)
      expect(outcomeOf(replay)).toBe('401 refresh_token_reused')
      expect([...(await worthOn(at(hosts, index + 1), grants))]).toEqual([dead])
    })
    figure(
      'R3',
      'replay one generation late, after the window of 10 s',
      `${families.length} of ${families.length} families dead on the other process at the next ` +
        'request (100 %)',
    )
  }, 300_000)
})
