import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import {
  eventsOf,
  mailedToken,
  openHost,
  outcomeOf,
  storedUser,
} from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword } from '../../support/people/people.js'
import { login } from '../../support/people/recovery-steps.js'
import { registerHere, verifyWith } from '../../support/people/registration-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { settingsHost } from '../settings/settings-host.js'

const surface = 'client'
const email = 'ada@example.org'
const cutOff = '503 service_unavailable'

/** A registration that waits for its link, in the browser that keeps the cookie. */
async function registered() {
  const faulty = faultyBackend(memory())
  const host = await openHost({ backend: faulty.backend })
  const { cookie } = await registerHere(host, surface, { email })
  const token = await mailedToken(host, 'verifyEmail', email)
  const confirm = async (more: object = {}, kept?: string): Promise<string> =>
    outcomeOf(await verifyWith(host, surface, { token, ...more }, kept))
  return { host, faulty, cookie, confirm }
}

describe('the confirmation of a registration that is cut off', () => {
  it('after the account was made is completed by the same link', async () => {
    const { host, faulty, cookie, confirm } = await registered()
    faulty.failNext(`${surface}_intents.take`, 'before')
    expect(await confirm({}, cookie)).toBe('503 service_unavailable')
    // What the browser kept is used up by now, so the request names no password at all.
    expect(await confirm({}, cookie)).toBe('200')
    expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
    expect(eventsOf(host, 'account.registered')).toHaveLength(1)
    expect(await confirm({})).toBe('400 invalid_token')
  })

  it('after the account was made is completed though registration was closed since', async () => {
    const faulty = faultyBackend(memory())
    const host = await settingsHost({ backend: faulty.backend })
    const { cookie } = await registerHere(host, surface, { email })
    const token = await mailedToken(host, 'verifyEmail', email)
    faulty.failNext(`${surface}_intents.take`, 'before')
    expect(outcomeOf(await verifyWith(host, surface, { token }, cookie))).toBe(cutOff)
    await host.set({ config: { registrationClientEnabled: 'false' } })
    expect(outcomeOf(await verifyWith(host, surface, { token }, cookie))).toBe('200')
    expect(outcomeOf(await verifyWith(host, surface, { token }))).toBe('400 invalid_token')
    expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
  })

  it('after the account was made takes no other password, and says so', async () => {
    const { host, faulty, confirm } = await registered()
    faulty.failNext(`${surface}_intents.take`, 'before')
    expect(await confirm({ newPassword: otherPassword })).toBe(cutOff)
    expect(await confirm({ newPassword: goodPassword })).toBe('400 invalid_token')
    expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe(
      '401 invalid_credentials',
    )
    // What was refused left the link to the request that it belongs to.
    expect(await confirm({ newPassword: otherPassword })).toBe('200')
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe('200')
    expect(eventsOf(host, 'account.registered')).toHaveLength(1)
  })

  it('after the account was made is refused in the browser whose password it is not', async () => {
    const { host, faulty, cookie, confirm } = await registered()
    faulty.failNext(`${surface}_intents.take`, 'before')
    expect(await confirm({ newPassword: otherPassword })).toBe(cutOff)
    // Here a password was chosen before, by which the account cannot be opened.
    expect(await confirm({}, cookie)).toBe('400 invalid_token')
    expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe(
      '401 invalid_credentials',
    )
    expect(await confirm({ newPassword: otherPassword })).toBe('200')
  })

  it('where the write was not made, is not answered for the write of another request', async () => {
    const { host, faulty, confirm } = await registered()
    faulty.onCall(`${surface}_users.insert`, async () => {
      faulty.failNext(`${surface}_intents.take`, 'before')
      expect(await confirm({ newPassword: otherPassword })).toBe(cutOff)
      faulty.failNext(`${surface}_users.insert`, 'before')
    })
    const third = 'a third passphrase of some length'
    expect(await confirm({ newPassword: third })).toBe(cutOff)
    expect(outcomeOf(await login(host, surface, email, third))).toBe('401 invalid_credentials')
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe('200')
    expect(eventsOf(host, 'account.registered')).toHaveLength(1)
  })

  it('where only the answer of the write was lost, goes on', async () => {
    const { host, faulty, cookie, confirm } = await registered()
    faulty.failNext(`${surface}_users.insert`, 'after')
    expect(await confirm({}, cookie)).toBe('200')
    expect(outcomeOf(await login(host, surface, email, goodPassword))).toBe('200')
    expect(eventsOf(host, 'account.registered')).toHaveLength(1)
  })

  it('where the write was not made, is told so, though another account has the address by now', async () => {
    const { host, faulty, cookie, confirm } = await registered()
    faulty.onCall(`${surface}_users.insert`, async () => {
      const given = { email, password: otherPassword, emailVerified: true }
      await host.auth[surface].users.create(given)
      faulty.failNext(`${surface}_users.insert`, 'before')
    })
    expect(await confirm({}, cookie)).toBe('503 service_unavailable')
    expect(await confirm({}, cookie)).toBe('400 invalid_token')
    expect((await storedUser(host, surface, email)).selfRegistered).toBe(false)
    expect(eventsOf(host, 'account.registered')).toEqual([])
  })
})
