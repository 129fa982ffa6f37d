import { setImmediate as turn } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { otherPassword, person } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

/** Resolves with `open`, for hooks of calls that wait for each other. */
function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

eachSurface.describe('the order of a login', (surface) => {
  async function rig(options: HostOptions = {}) {
    const store = faultyBackend(memory())
    const host = await openHost({ ...options, backend: store.backend })
    const who = await person(host, surface)
    const login = (password = who.password) =>
      host.send('POST', `/v1/auth/${surface}/login`, { body: { email: who.email, password } })
    return { store, host, who, login, ...storedIn(host, surface) }
  }

  it('a login whose rows were on their way during a disabling gets no token', async () => {
    const { store, host, who, login, families } = await rig()
    const written = gate()
    store.onCall(`${surface}_sessions.insert`, () => written.opened)
    store.onCall(`${surface}_refresh_tokens.insert`, async () => {
      await host.auth[surface].users.update(who.id, { enabled: false })
      await host.auth[surface].users.update(who.id, { enabled: true })
      written.open()
    })
    expect(outcomeOf(await login())).toBe('401 invalid_credentials')
    const [family] = await families.find({ userId: who.id }, { limit: 2 })
    expect(family?.revokedReason).toBe('password_change')
  })

  it('the access token says what the account is when it is fenced', async () => {
    const { store, who, login, users } = await rig()
    const memberships = [{ tenantId: 'acme', roles: [] }]
    store.onCall(`${surface}_users.update`, async () => {
      await users.update(who.id, { enabled: true }, { memberships })
    })
    const claims = decodeJwt(textOf((await login()).json(), 'accessToken'))
    expect(claims).toMatchObject({ memberships: [{ tenantId: 'acme' }] })
  })

  it('wrong guesses are forgiven before the reply, so that a process may freeze after it', async () => {
    const { store, login } = await rig()
    expect((await login(otherPassword)).status).toBe(401)
    const held = gate()
    const asked = gate()
    store.onCall('counter.forgive', () => {
      asked.open()
      return held.opened
    })
    let isAnswered = false
    const reply = login().finally(() => {
      isAnswered = true
    })
    await asked.opened
    // All else is done well within these turns of the event loop, the reply on its way among it.
    for (let turns = 0; turns < 5000; turns += 1) await turn()
    expect(isAnswered).toBe(false)
    held.open()
    expect((await reply).status).toBe(200)
  })

  it('an address that is locked out is 429, although no account can be read', async () => {
    const { host, store, login } = await rig()
    for (let guess = 0; guess < 10; guess += 1) await login(otherPassword)
    await host.auth.close()
    store.failNext(`${surface}_users.find`, 'before', Number.POSITIVE_INFINITY)
    expect(outcomeOf(await login())).toBe('429 rate_limited')
  })

  it('an account that cannot be read is 503, and no wrong guess', async () => {
    const { store, login } = await rig()
    store.failNext(`${surface}_users.find`, 'before', Number.POSITIVE_INFINITY)
    for (let guess = 0; guess < 12; guess += 1) {
      expect(outcomeOf(await login(otherPassword))).toBe('503 service_unavailable')
    }
    store.heal()
    expect(outcomeOf(await login())).toBe('200')
  })

  it('a login of which one row could not be written leaves none that is listed', async () => {
    for (const name of ['sessions', 'refresh_tokens']) {
      const { store, who, login, families, sessions } = await rig()
      store.failNext(`${surface}_${name}.insert`, 'before')
      expect(outcomeOf(await login())).toBe('503 service_unavailable')
      expect(await families.find({ userId: who.id }, { limit: 2 })).toEqual([])
      const left = await sessions.find({ userId: who.id }, { limit: 2 })
      expect(left).toHaveLength(name === 'sessions' ? 0 : 1)
    }
  })
})
