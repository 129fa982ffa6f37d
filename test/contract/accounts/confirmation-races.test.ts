import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { InitialSettings } from '../../../src/settings/settings.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import {
  eventsOf,
  mailedToken,
  openHost,
  outcomeOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, signIn } from '../../support/people/people.js'
import { verifyWith } from '../../support/people/registration-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const surface = 'client'
const email = 'ada@example.org'
const thirdPassword = 'a third passphrase of some length'

/** An account whose address nobody confirmed, the session of its maker, and a link to confirm it. */
async function waiting(password: string | undefined, settings: InitialSettings = {}) {
  const faulty = faultyBackend(memory())
  const host = await openHost({
    backend: faulty.backend,
    settings: { emailVerificationRequired: false, ...settings },
  })
  const made = { email, ...(password === undefined ? {} : { password }) }
  const { id } = await host.auth[surface].users.create(made)
  const person = { id, email, password: password ?? '' }
  const bearer = password === undefined ? '' : (await signIn(host, surface, person)).bearer
  await host.send('POST', `/v1/auth/${surface}/email/verify/resend`, { body: { email } })
  const token = await mailedToken(host, 'verifyEmail', email)
  const confirm = (newPassword?: string): Promise<Reply> =>
    verifyWith(host, surface, { token, ...(newPassword === undefined ? {} : { newPassword }) })
  return { host, faulty, id, bearer, confirm }
}

const login = async (host: ContractHost, password: string): Promise<string> =>
  outcomeOf(await host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } }))

const me = async (host: ContractHost, bearer: string): Promise<string> =>
  outcomeOf(await host.send('GET', `/v1/auth/${surface}/me`, { bearer }))

const failed = '503 service_unavailable'
const invalid = '400 invalid_token'

describe('wrong guesses at the password of an address that nobody confirmed', () => {
  async function locked() {
    const given = await waiting(goodPassword, { lockoutThreshold: 3 })
    for (let n = 0; n < 3; n += 1) await login(given.host, thirdPassword)
    expect(await login(given.host, goodPassword)).toBe('429 rate_limited')
    return given
  }

  it('are forgiven when the owner confirms it and chooses a password', async () => {
    const { host, confirm } = await locked()
    expect(outcomeOf(await confirm(otherPassword))).toBe('200')
    expect(await login(host, otherPassword)).toBe('200')
  })

  it('are forgiven when the owner confirms it and keeps the password', async () => {
    const { host, bearer, confirm } = await locked()
    expect(outcomeOf(await confirm(goodPassword))).toBe('200')
    expect(await login(host, goodPassword)).toBe('200')
    expect(await me(host, bearer)).toBe('200')
  })

  it('are forgiven when the confirmation is cut off and sent again', async () => {
    const { host, faulty, confirm } = await locked()
    faulty.failNext('denylist.put', 'before')
    expect(outcomeOf(await confirm(otherPassword))).toBe(failed)
    expect(outcomeOf(await confirm(otherPassword))).toBe('200')
    expect(await login(host, otherPassword)).toBe('200')
  })
})

describe('a confirmation that chooses a password and is cut off before its link is taken', () => {
  async function cutOff() {
    const given = await waiting(goodPassword)
    given.faulty.failNext('denylist.put', 'before')
    expect(outcomeOf(await given.confirm(otherPassword))).toBe(failed)
    return given
  }

  it('is completed by the same request, which ends the sessions of before', async () => {
    const { host, bearer, confirm } = await cutOff()
    expect(outcomeOf(await confirm(otherPassword))).toBe('200')
    expect(await me(host, bearer)).toBe('401 session_revoked')
    expect(await login(host, otherPassword)).toBe('200')
    expect(outcomeOf(await confirm(otherPassword))).toBe(invalid)
  })

  it('is completed by the same request though all sessions were ended before it', async () => {
    const { host, faulty, id, bearer, confirm } = await waiting(goodPassword)
    await host.auth[surface].terminateSessionsOf(id)
    faulty.failNext('denylist.put', 'before')
    const late = await signIn(host, surface, { id, email, password: goodPassword })
    expect(outcomeOf(await confirm(otherPassword))).toBe(failed)
    expect(outcomeOf(await confirm(otherPassword))).toBe('200')
    for (const token of [bearer, late.bearer]) {
      expect(await me(host, token)).toBe('401 session_revoked')
    }
    expect(await login(host, otherPassword)).toBe('200')
  })

  it('is refused with another password than the one chosen, and without one', async () => {
    const { host, confirm } = await cutOff()
    for (const password of [thirdPassword, goodPassword, undefined]) {
      expect(outcomeOf(await confirm(password))).toBe(invalid)
    }
    expect(await login(host, thirdPassword)).toBe('401 invalid_credentials')
    // What was refused left the link to the request that it belongs to.
    expect(outcomeOf(await confirm(otherPassword))).toBe('200')
  })

  it('goes on where only the answer of its write was lost, and tells of it once', async () => {
    const { host, faulty, id, bearer, confirm } = await waiting(goodPassword)
    faulty.failNext(`${surface}_users.update`, 'after')
    expect(outcomeOf(await confirm(otherPassword))).toBe('200')
    expect(await me(host, bearer)).toBe('401 session_revoked')
    expect(await login(host, otherPassword)).toBe('200')
    expect(eventsOf(host, 'account.ownerProved')).toMatchObject([{ userId: id, by: 'link' }])
  })
})

describe('a confirmation that chooses a password', () => {
  it('is done though the sessions of the account are ended just before its write', async () => {
    const { host, faulty, id, confirm } = await waiting(goodPassword)
    faulty.onCall(`${surface}_users.update`, async () => {
      await host.auth[surface].terminateSessionsOf(id)
    })
    expect(outcomeOf(await confirm(otherPassword))).toBe('200')
    expect(await login(host, otherPassword)).toBe('200')
  })

  it('remembers the password of before, which cannot be chosen again', async () => {
    const { host, confirm } = await waiting(goodPassword)
    expect(outcomeOf(await confirm(otherPassword))).toBe('200')
    const body = { email, password: otherPassword }
    const signedIn = await host.send('POST', `/v1/auth/${surface}/mobile/login`, { body })
    const changed = await host.send('POST', `/v1/auth/${surface}/me/password`, {
      bearer: textOf(signedIn.json(), 'accessToken'),
      body: { currentPassword: otherPassword, newPassword: goodPassword },
    })
    expect([outcomeOf(changed), changed.text]).toEqual([
      '422 password_policy',
      expect.stringContaining('reused'),
    ])
  })
})

describe('a confirmation that another one with its link overtakes', () => {
  /** Before the write of the first, the second does all but take the link. */
  async function overtaken(first: string, second: string) {
    const given = await waiting(goodPassword)
    const { faulty, confirm } = given
    faulty.onCall(`${surface}_users.update`, async () => {
      faulty.failNext(`${surface}_intents.take`, 'before')
      expect(outcomeOf(await confirm(second))).toBe(failed)
    })
    return { ...given, outcome: outcomeOf(await confirm(first)) }
  }

  it.each([
    ['the password that the account had', goodPassword],
    ['a password of its own', thirdPassword],
  ])('is refused when it names %s, and leaves the link to the other', async (_which, first) => {
    const { host, bearer, outcome, confirm } = await overtaken(first, otherPassword)
    expect(outcome).toBe(invalid)
    expect(await login(host, first)).toBe('401 invalid_credentials')
    expect(outcomeOf(await confirm(otherPassword))).toBe('200')
    expect(await me(host, bearer)).toBe('401 session_revoked')
    expect(eventsOf(host, 'account.ownerProved')).toHaveLength(1)
  })

  it('is refused when the other took the link before it could', async () => {
    const { host, faulty, confirm } = await waiting(goodPassword)
    const between: string[] = []
    faulty.onCall(`${surface}_intents.take`, async () => {
      between.push(outcomeOf(await confirm(goodPassword)))
    })
    expect([outcomeOf(await confirm(goodPassword)), ...between]).toEqual([invalid, '200'])
    expect(eventsOf(host, 'email.verified')).toHaveLength(1)
  })
})

describe('a confirmation whose account changes just before its write', () => {
  /** The password of the account, and the one that comes with the link. */
  const ways: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ['with the password there is', goodPassword, goodPassword],
    ['with another password', goodPassword, otherPassword],
    ['without any', undefined, undefined],
  ]

  it.each(ways)('is refused when the account is deleted: %s', async (_way, has, named) => {
    const { host, faulty, id, confirm } = await waiting(has)
    faulty.onCall(`${surface}_users.update`, async () => {
      await host.auth[surface].users.delete(id)
    })
    expect(outcomeOf(await confirm(named))).toBe(invalid)
    expect(eventsOf(host, 'account.ownerProved')).toEqual([])
  })

  it.each(ways)(
    'is refused when it is disabled and enabled again: %s',
    async (_way, has, named) => {
      const { host, faulty, id, confirm } = await waiting(has)
      faulty.onCall(`${surface}_users.update`, async () => {
        await host.auth[surface].users.update(id, { enabled: false })
        await host.auth[surface].users.update(id, { enabled: true })
      })
      expect(outcomeOf(await confirm(named))).toBe(invalid)
      expect((await storedUser(host, surface, email)).emailVerifiedAt).toBeNull()
      expect(eventsOf(host, 'account.ownerProved')).toEqual([])
    },
  )

  it.each(ways)('is refused when another proof came first: %s', async (_way, has, named) => {
    const { host, faulty, id, confirm } = await waiting(has)
    const { users } = storedIn(host, surface)
    faulty.onCall(`${surface}_users.update`, async () => {
      const { credentialEpoch } = await storedUser(host, surface, email)
      const proved = { emailVerifiedAt: 1, credentialEpoch: credentialEpoch + 2 }
      await users.update(id, { credentialEpoch }, proved)
    })
    expect(outcomeOf(await confirm(named))).toBe(invalid)
    expect((await storedUser(host, surface, email)).emailVerifiedAt).toBe(1)
    expect(eventsOf(host, 'account.ownerProved')).toEqual([])
  })
})

describe('a confirmation whose write fails', () => {
  it('says so when the account was deleted meanwhile', async () => {
    const { host, faulty, id, confirm } = await waiting(goodPassword)
    faulty.onCall(`${surface}_users.update`, async () => {
      await host.auth[surface].users.delete(id)
      faulty.failNext(`${surface}_users.update`, 'before')
    })
    expect(outcomeOf(await confirm(otherPassword))).toBe(failed)
  })
})

describe('the mail about a password that a confirmation replaced', () => {
  it.each([
    [true, 1],
    [false, 0],
  ])(
    'with security mails switched to %s is sent %i times',
    async (notifySecurityChanges, count) => {
      const { host, confirm } = await waiting(goodPassword, { notifySecurityChanges })
      expect(outcomeOf(await confirm(otherPassword))).toBe('200')
      await host.auth.close()
      const sent = host.mailer.sent.filter(({ template }) => template === 'passwordChanged')
      expect(sent).toHaveLength(count)
    },
  )
})
