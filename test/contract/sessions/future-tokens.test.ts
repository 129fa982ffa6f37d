import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { refreshCookieOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { signedInApp, signedInPerson } from '../../support/people/people.js'

const minute = 60_000
const noon = Date.UTC(2026, 0, 1, 12)

eachSurface.describe('a session of a process whose clock is ahead', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`

  async function opened(aheadMs = 2 * minute + 1) {
    const backend = memory()
    const logger = recordingLogger()
    const clock = fakeClock(noon)
    const ahead = await openHost({ backend, clock: fakeClock(noon + aheadMs) })
    const right = await openHost({ backend, clock, logger })
    const who = await signedInPerson(ahead, surface)
    const app = await signedInApp(ahead, surface)
    return { who, app, backend, ahead, right, clock, logger }
  }

  it('goes on once its time has come, and is not ended before', async () => {
    const { who, app, right, clock, logger } = await opened()
    const { cookie } = who
    const { refreshToken } = app
    const asked = [
      () => right.send('GET', at('/session'), { cookie }),
      () => right.send('POST', at('/refresh-cookie'), { cookie }),
      () => right.send('POST', at('/refresh'), { body: { refreshToken } }),
    ]
    for (const ask of asked) {
      const reply = await ask()
      const refused = '503 session_enforcement_unavailable'
      expect([outcomeOf(reply), reply.setCookies]).toEqual([refused, []])
    }
    const said = logger.lines.filter(({ message }) => message.includes('issued in the future'))
    expect(said.map(({ level }) => level)).toEqual(['error'])
    await clock.advance(minute - 1)
    expect((await right.send('GET', at('/session'), { cookie })).status).toBe(503)
    expect(
      logger.lines.filter((line) => said.some(({ message }) => message === line.message)),
    ).toHaveLength(1)
    // A token may be a minute ahead.
    await clock.advance(2)
    expect(outcomeOf(await right.send('GET', at('/session'), { cookie }))).toBe('200')
    expect(outcomeOf(await right.send('POST', at('/refresh-cookie'), { cookie }))).toBe('200')
    const refreshed = await right.send('POST', at('/refresh'), { body: { refreshToken } })
    expect(outcomeOf(refreshed)).toBe('200')
  })

  it('more than five minutes ahead is no reason to wait, and its cookie stays', async () => {
    const { who, app, right, clock } = await opened(5 * minute + 1000)
    const { cookie } = who
    const refresh = () => right.send('POST', at('/refresh-cookie'), { cookie })
    const refused = await refresh()
    expect([outcomeOf(refused), refused.setCookies]).toEqual(['401 refresh_token_invalid', []])
    const { refreshToken } = app
    const ofApp = await right.send('POST', at('/refresh'), { body: { refreshToken } })
    expect(outcomeOf(ofApp)).toBe('401 refresh_token_invalid')
    await clock.advance(1000)
    expect(outcomeOf(await refresh())).toBe('503 session_enforcement_unavailable')
    await clock.advance(4 * minute)
    expect(outcomeOf(await refresh())).toBe('200')
  })

  it('gives way to a good one of the same person', async () => {
    const { who, right } = await opened()
    const { email, password } = who
    const login = await right.send('POST', at('/login'), { body: { email, password } })
    const good = refreshCookieOf(login, surface)
    for (const cookie of [`${who.cookie}; ${good}`, `${good}; ${who.cookie}`]) {
      expect(outcomeOf(await right.send('GET', at('/session'), { cookie }))).toBe('200')
    }
  })

  it('does not give way to a retired one of its session', async () => {
    const { who, ahead, right } = await opened()
    const { email, password } = who
    const login = await right.send('POST', at('/login'), { body: { email, password } })
    const retired = refreshCookieOf(login, surface)
    const rotated = await ahead.send('POST', at('/refresh-cookie'), { cookie: retired })
    const newest = refreshCookieOf(rotated, surface)
    for (const cookie of [`${retired}; ${newest}`, `${newest}; ${retired}`]) {
      const reply = await right.send('POST', at('/refresh-cookie'), { cookie })
      const refused = '503 session_enforcement_unavailable'
      expect([outcomeOf(reply), reply.setCookies]).toEqual([refused, []])
    }
    expect(outcomeOf(await ahead.send('GET', at('/session'), { cookie: newest }))).toBe('200')
  })

  it('does not give way to one that has expired', async () => {
    const { who, backend, right, clock } = await opened()
    const { email, password } = who
    const login = await right.send('POST', at('/login'), { body: { email, password } })
    const old = refreshCookieOf(login, surface)
    await clock.advance(8 * 24 * 60 * minute)
    const later = fakeClock(clock.now() + 2 * minute + 1)
    const again = await openHost({ backend, clock: later })
    const newer = await again.send('POST', at('/login'), { body: { email, password } })
    const cookie = `${old}; ${refreshCookieOf(newer, surface)}`
    const reply = await right.send('GET', at('/session'), { cookie })
    expect([outcomeOf(reply).slice(0, 3), reply.setCookies]).toEqual(['503', []])
  })

  it('is ended by a sign-out beside the session that is in use', async () => {
    const { who, right, clock } = await opened()
    const { email, password } = who
    const login = await right.send('POST', at('/login'), { body: { email, password } })
    const good = refreshCookieOf(login, surface)
    const out = await right.send('POST', at('/logout'), { cookie: `${good}; ${who.cookie}` })
    expect(outcomeOf(out)).toBe('204')
    await clock.advance(3 * minute)
    for (const cookie of [good, who.cookie]) {
      const after = await right.send('GET', at('/session'), { cookie })
      expect(outcomeOf(after)).toBe('401 session_revoked')
    }
  })

  it('can be signed out of', async () => {
    const { who, right, clock } = await opened()
    const { cookie } = who
    const out = await right.send('POST', at('/logout'), { cookie })
    expect([outcomeOf(out), out.setCookies.length]).toEqual(['204', 2])
    await clock.advance(3 * minute)
    const after = await right.send('GET', at('/session'), { cookie })
    expect(outcomeOf(after)).toBe('401 session_revoked')
  })
})
