import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHostAtOneAddress, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { otherPassword, signedInPerson, signIn } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const limited = '429 rate_limited'
const wrong = '401 invalid_credentials'
const settings = { lockoutThreshold: 3 }

async function times(count: number, work: () => Promise<string>): Promise<string[]> {
  const outcomes: string[] = []
  for (let index = 0; index < count; index += 1) outcomes.push(await work())
  return outcomes
}

interface Guess {
  readonly surface: Surface
  readonly bearer: string
  readonly currentPassword: string
}

async function change(host: ContractHost, { surface, bearer, currentPassword }: Guess) {
  const body = { currentPassword, newPassword: otherPassword }
  return outcomeOf(await host.send('POST', `/v1/auth/${surface}/me/password`, { bearer, body }))
}

async function login(host: ContractHost, surface: Surface, email: string, password: string) {
  const body = { email, password }
  return outcomeOf(await host.send('POST', `/v1/auth/${surface}/login`, { body }))
}

async function me(host: ContractHost, surface: Surface, bearer: string) {
  return outcomeOf(await host.send('GET', `/v1/auth/${surface}/me`, { bearer }))
}

eachSurface.describe('guesses at a password', (surface) => {
  it('ten anonymous wrong logins do not block the password change of the owner', async () => {
    const host = await openHostAtOneAddress()
    const who = await signedInPerson(host, surface)
    const guesses = await times(11, () => login(host, surface, who.email, 'a wrong passphrase'))
    expect(guesses).toEqual([...Array<string>(10).fill(wrong), limited])
    const currentPassword = who.password
    expect(await change(host, { surface, bearer: who.bearer, currentPassword })).toBe('204')
  })

  it('the failure that uses up the guesses of a session ends it, and no other', async () => {
    const host = await openHostAtOneAddress({ settings })
    const who = await signedInPerson(host, surface)
    const { bearer } = who
    const elsewhere = await signIn(host, surface, who)
    const guess = { surface, bearer, currentPassword: 'a wrong passphrase' }
    expect(await times(2, () => change(host, guess))).toEqual([wrong, wrong])
    expect(await me(host, surface, bearer)).toBe('200')
    expect(await change(host, guess)).toBe(wrong)
    expect(await me(host, surface, bearer)).toBe('401 session_revoked')
    const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, {
      cookie: who.cookie,
    })
    expect(outcomeOf(refreshed)).toBe('401 session_revoked')
    expect(eventsOf(host, 'session.terminated')).toMatchObject([
      { userId: who.id, reason: 'guesses', actorId: null },
    ])
    // The owner's other session, and their login, have guesses of their own.
    expect(await login(host, surface, who.email, who.password)).toBe('200')
    const right = { surface, bearer: elsewhere.bearer, currentPassword: who.password }
    expect(await change(host, right)).toBe('204')
  })

  it('a session whose ending failed at the last guess is ended by the next one', async () => {
    const store = faultyBackend(memory())
    const host = await openHostAtOneAddress({ backend: store.backend, settings })
    const { bearer } = await signedInPerson(host, surface)
    const guess = { surface, bearer, currentPassword: 'a wrong passphrase' }
    expect(await times(2, () => change(host, guess))).toEqual([wrong, wrong])
    store.failNext('denylist.put', 'before')
    expect(await change(host, guess)).toMatch(/^503 /)
    expect(await me(host, surface, bearer)).toBe('200')
    expect(await change(host, guess)).toBe(limited)
    expect(await me(host, surface, bearer)).toBe('401 session_revoked')
  })

  it('a right password forgets the failures of its session', async () => {
    const host = await openHostAtOneAddress({ settings })
    const who = await signedInPerson(host, surface)
    const { bearer } = who
    const guess = { surface, bearer, currentPassword: 'a wrong passphrase' }
    await times(2, () => change(host, guess))
    expect(await change(host, { ...guess, currentPassword: who.password })).toBe('204')
    await times(2, () => change(host, guess))
    expect(await me(host, surface, bearer)).toBe('200')
  })

  it('the guesses of all doors that ask a session for the password count together', async () => {
    const host = await openHostAtOneAddress({ settings })
    const { bearer } = await signedInPerson(host, surface)
    const currentPassword = 'a wrong passphrase'
    const base = `/v1/auth/${surface}`
    const doors = [
      () => change(host, { surface, bearer, currentPassword }),
      async () => {
        const body = { newEmail: 'new@example.org', currentPassword }
        return outcomeOf(await host.send('POST', `${base}/me/email`, { bearer, body }))
      },
      async () =>
        outcomeOf(
          await host.send('POST', `${base}/mfa/totp`, { bearer, body: { currentPassword } }),
        ),
    ]
    for (const door of doors) expect(await door()).toBe(wrong)
    expect(await me(host, surface, bearer)).toBe('401 session_revoked')
  })

  it('with no lockout, a session is not ended either', async () => {
    const host = await openHostAtOneAddress({ ...withoutLimits, settings: { lockoutThreshold: 0 } })
    const { bearer } = await signedInPerson(host, surface)
    const guess = { surface, bearer, currentPassword: 'a wrong passphrase' }
    expect(new Set(await times(25, () => change(host, guess)))).toEqual(new Set([wrong]))
    expect(await me(host, surface, bearer)).toBe('200')
  })
})

eachHost.describe('guesses of one session at once', (kind) => {
  it('of 100 parallel ones three are looked at, and the session is over', async () => {
    const host = await openHostAtOneAddress({ ...withoutLimits, settings }, kind)
    const { bearer } = await signedInPerson(host, 'client')
    const guess = { surface: 'client', bearer, currentPassword: 'a wrong passphrase' } as const
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => change(host, guess)))
    expect(outcomes.filter((outcome) => outcome === wrong)).toHaveLength(3)
    expect(await me(host, 'client', bearer)).toBe('401 session_revoked')
  })
})
