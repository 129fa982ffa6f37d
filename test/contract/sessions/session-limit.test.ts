import { expect, it } from 'vitest'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { person, signIn } from '../../support/people/people.js'
import { spyBackend } from '../../support/stores/spy-backend.js'

it('S-61 a login over the limit reads no documents of sessions whose rows are long gone', async () => {
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
