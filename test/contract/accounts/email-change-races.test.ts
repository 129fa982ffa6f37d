import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Reply } from '../../support/hosts/http-client.js'
import {
  eventsOf,
  mailedToken,
  openHost,
  outcomeOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { signedInPerson } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const surface = 'client'
const newEmail = 'countess@example.net'
const failed = '503 service_unavailable'
const invalid = '400 invalid_token'
const usersUpdate = `${surface}_users.update`
const ticketsTake = `${surface}_intents.take`

/** Somebody who asked for another address, and confirms it in the session that asked. */
async function asked() {
  const faulty = faultyBackend(memory())
  const host = await openHost({ backend: faulty.backend })
  const who = await signedInPerson(host, surface)
  const { bearer, password: currentPassword } = who
  const ask = (address: string): Promise<Reply> =>
    host.send('POST', `/v1/auth/${surface}/me/email`, {
      bearer,
      body: { newEmail: address, currentPassword },
    })
  expect(outcomeOf(await ask(newEmail))).toBe('202')
  const token = await mailedToken(host, 'changeEmail', newEmail)
  const confirm = async (): Promise<string> =>
    outcomeOf(
      await host.send('POST', `/v1/auth/${surface}/email/verify`, { bearer, body: { token } }),
    )
  /** Of what the earlier address was told once the account had moved. */
  const notices = async () => {
    await host.auth.close()
    return host.mailer.sent.filter(
      ({ to, template }) => to === who.email && template === 'emailChanged',
    )
  }
  return { host, faulty, who, ask, confirm, notices }
}

describe('a confirmed change of address that another request with its link overtakes', () => {
  it('is refused when the other took the link, and one event tells of the change', async () => {
    const { host, faulty, confirm, notices } = await asked()
    const between: string[] = []
    faulty.onCall(ticketsTake, async () => {
      between.push(await confirm())
    })
    expect([await confirm(), ...between]).toEqual([invalid, '200'])
    expect(eventsOf(host, 'email.changed')).toHaveLength(1)
    expect(await notices()).toHaveLength(1)
  })

  it('still tells the earlier address when the other moved the account and had no answer', async () => {
    const { host, faulty, confirm, notices } = await asked()
    faulty.onCall(usersUpdate, async () => {
      faulty.failNext(usersUpdate, 'after')
      expect(await confirm()).toBe(failed)
      expect(await notices()).toEqual([])
    })
    expect(await confirm()).toBe('200')
    expect((await storedUser(host, surface, newEmail)).emailVerifiedAt).toBe(host.clock.now())
    expect(await notices()).toMatchObject([{ data: { newEmail } }])
    expect(eventsOf(host, 'email.changed')).toHaveLength(1)
  })
})

describe('a change of address whose account changes just before its write', () => {
  it('is refused when the account is deleted', async () => {
    const { host, faulty, who, confirm } = await asked()
    faulty.onCall(usersUpdate, async () => {
      await host.auth[surface].users.delete(who.id)
    })
    expect(await confirm()).toBe(invalid)
    expect(eventsOf(host, 'email.changed')).toEqual([])
  })

  it('is refused when the account came to the same address by other means', async () => {
    const { host, faulty, who, confirm, notices } = await asked()
    faulty.onCall(usersUpdate, async () => {
      const { credentialEpoch } = await storedUser(host, surface, who.email)
      const moved = { email: newEmail, credentialEpoch: credentialEpoch + 1 }
      await storedIn(host, surface).users.update(who.id, { credentialEpoch }, moved)
    })
    expect(await confirm()).toBe(invalid)
    expect(eventsOf(host, 'email.changed')).toEqual([])
    expect(await notices()).toEqual([])
  })
})

describe('a change of address that was cut off before its link was taken', () => {
  it('is not confirmed again by a link that a newer one replaced meanwhile', async () => {
    const { host, faulty, ask, confirm } = await asked()
    faulty.failNext(ticketsTake, 'before')
    expect(await confirm()).toBe(failed)
    faulty.onCall(ticketsTake, async () => {
      expect(outcomeOf(await ask('again@example.org'))).toBe('202')
      await mailedToken(host, 'changeEmail', 'again@example.org')
    })
    expect(await confirm()).toBe(invalid)
    expect((await storedUser(host, surface, newEmail)).email).toBe(newEmail)
  })
})
