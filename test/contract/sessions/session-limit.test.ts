import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { passwordLogin } from '../../support/people/authenticator.js'
import { person, refreshByCookie, signIn } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { spyBackend } from '../../support/stores/spy-backend.js'

it('a login over the limit reads no documents of sessions whose rows are long gone', async () => {
  const { backend, calls } = spyBackend()
  const host = await openHost({ backend, settings: { maxConcurrentSessions: 1 } })
  const who = await person(host, 'client')
  const { bearer } = await signIn(host, 'client', who)
  const { claims } = await host.auth.client.authenticate(`Bearer ${bearer}`)
  const { sessions } = storedIn(host, 'client')
  const newest = await sessions.get(claims.sid ?? '')
  if (newest === null) throw new Error('no document')
  for (let at = 0; at < 600; at += 1) {
    const id = `00000000-0000-7000-8000-${at.toString().padStart(12, '0')}`
    const ended = { active: false, endedAt: newest.loginAt, endReason: 'logout' } as const
    await sessions.insert({ ...newest, ...ended, id })
  }
  for (let time = 0; time < 2; time += 1) {
    await host.clock.advance(1)
    calls.length = 0
    await signIn(host, 'client', who)
    expect(calls.filter((call) => call === 'client_sessions.find')).toHaveLength(1)
  }
})

it.each(['client_sessions.insert', 'client_refresh_tokens.insert', 'client_users.update'])(
  'logins whose answer of %s was lost push out no session',
  async (call) => {
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend, settings: { maxConcurrentSessions: 3 } })
    const who = await person(host, 'client')
    const held = [await signIn(host, 'client', who), await signIn(host, 'client', who)]
    const outcomes: string[] = []
    for (let attempt = 0; attempt < 3; attempt += 1) {
      store.failNext(call, 'after')
      outcomes.push(outcomeOf(await passwordLogin(host, 'client', who)))
    }
    store.heal()
    held.push(await signIn(host, 'client', who))
    expect(outcomes).toEqual(Array<string>(3).fill('503 service_unavailable'))
    const listed = await host.auth.client.sessions.list(who.id)
    expect(listed.filter(({ active }) => active)).toHaveLength(3)
    for (const { refreshToken } of held) {
      expect(outcomeOf(await refreshByCookie(host, 'client', refreshToken))).toBe('200')
    }
  },
)
