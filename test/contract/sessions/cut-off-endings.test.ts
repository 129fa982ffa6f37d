import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { person, signIn } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const sidOf = ({ bearer }: { readonly bearer: string }): string => String(decodeJwt(bearer)['sid'])

eachSurface.describe('an ending cut off before the record of its session', (surface) => {
  const cutOff = `${surface}_sessions.update`

  it('is completed by the next ending of the same session', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend })
    const { sessions } = storedIn(host, surface)
    const id = sidOf(await signIn(host, surface, await person(host, surface)))
    store.failNext(cutOff, 'before')
    const first = host.auth[surface].terminateSession(id)
    await expect(first).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await sessions.get(id)).toMatchObject({ active: true })
    expect(await host.auth[surface].terminateSession(id)).toBe(false)
    expect(await sessions.get(id)).toMatchObject({ active: false, endReason: 'admin' })
  })

  it('is completed by the next login over the limit', async () => {
    const store = faultyBackend(memory())
    const settings = { maxConcurrentSessions: 1 }
    const host = await openHost({ backend: store.backend, settings })
    const { sessions } = storedIn(host, surface)
    const who = await person(host, surface)
    const oldest = sidOf(await signIn(host, surface, who))
    await host.clock.advance(1)
    store.failNext(cutOff, 'before')
    const { email, password } = who
    const body = { email, password }
    await host.send('POST', `/v1/auth/${surface}/login`, { body })
    expect(await sessions.get(oldest)).toMatchObject({ active: true })
    await host.clock.advance(1)
    await signIn(host, surface, who)
    expect(await sessions.get(oldest)).toMatchObject({ active: false, endReason: 'limit' })
  })
})
