import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHostAtOneAddress, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Enrolled, enrolled, finish, ticketOf } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { faultyBackend, withCall } from '../../support/stores/faulty-backend.js'

const wrong = '401 invalid_mfa_code'
const guessed = { totp: '1234567', backupCode: '00000-00000' } as const
const minute = 60_000

const few = {
  ...withoutLimits,
  settings: {
    ...withoutLimits.settings,
    ...({ lockoutThreshold: 3, webauthnMode: 'passwordless', accessTokenTTL: '1h' } as const),
  },
} as const

/** Shows a code within a session; a wrong one unless it is given. */
async function show(
  host: ContractHost,
  surface: Surface,
  bearer: string,
  method: keyof typeof guessed = 'totp',
  code: string = guessed[method],
) {
  const body = { method, code }
  return outcomeOf(await host.send('POST', `/v1/auth/${surface}/step-up`, { bearer, body }))
}

async function me(host: ContractHost, surface: Surface, bearer: string) {
  return outcomeOf(await host.send('GET', `/v1/auth/${surface}/me`, { bearer }))
}

/** Another session of the same user, which showed its factor. */
async function elsewhere(host: ContractHost, surface: Surface, who: Enrolled): Promise<string> {
  const mfaToken = await ticketOf(host, surface, who)
  const login = await finish(host, surface, mfaToken, await who.nextCode())
  return textOf(login.json(), 'accessToken')
}

const ended = (host: ContractHost) =>
  eventsOf(host, 'session.terminated').map(({ reason, actorId }) => ({ reason, actorId }))

eachSurface.describe('guesses at a factor in a session', (surface) => {
  it('the wrong code that uses them up ends the session, and the owner signs in', async () => {
    const host = await openHostAtOneAddress(few)
    const who = await enrolled(host, surface)
    const { bearer } = who
    expect([await show(host, surface, bearer), await show(host, surface, bearer)]).toEqual([
      ...[wrong, wrong],
    ])
    expect(await me(host, surface, bearer)).toBe('200')
    expect(await show(host, surface, bearer)).toBe(wrong)
    expect(await me(host, surface, bearer)).toBe('401 session_revoked')
    expect(ended(host)).toEqual([{ reason: 'guesses', actorId: null }])
    const mfaToken = await ticketOf(host, surface, who)
    expect(outcomeOf(await finish(host, surface, mfaToken, await who.nextCode()))).toBe('200')
  })

  it('wrong passkeys end it as well, and lock no passkey', async () => {
    const host = await openHostAtOneAddress(few)
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const guess = async () =>
      outcomeOf(await on.stepUp(who.bearer, who.authenticator, { otherKey: true }))
    expect([await guess(), await guess(), await guess()]).toEqual([wrong, wrong, wrong])
    expect(await me(host, surface, who.bearer)).toBe('401 session_revoked')
    expect(ended(host)).toEqual([{ reason: 'guesses', actorId: null }])
    expect(eventsOf(host, 'mfa.lockedOut')).toEqual([])
    expect(outcomeOf(await on.login(who.authenticator))).toBe('200')
    const mfaToken = await ticketOf(host, surface, who)
    expect(outcomeOf(await on.login(who.authenticator, mfaToken))).toBe('200')
  })

  it('those at all kinds of factor count together, and a right one forgives them', async () => {
    const host = await openHostAtOneAddress(few)
    const who = await enrolled(host, surface)
    const bearer = await elsewhere(host, surface, who)
    await show(host, surface, bearer, 'totp')
    await show(host, surface, bearer, 'backupCode')
    expect(await show(host, surface, bearer, 'totp', await who.nextCode())).toBe('200')
    await show(host, surface, bearer, 'totp')
    await show(host, surface, bearer, 'backupCode')
    expect(await me(host, surface, bearer)).toBe('200')
    expect(await show(host, surface, bearer, 'backupCode')).toBe(wrong)
    expect(await me(host, surface, bearer)).toBe('401 session_revoked')
  })

  it('new sessions give no more guesses: all of a user share those at codes', async () => {
    const host = await openHostAtOneAddress(few)
    const who = await enrolled(host, surface)
    const other = await elsewhere(host, surface, who)
    for (let guess = 0; guess < 3; guess += 1) await show(host, surface, who.bearer)
    for (let refused = 0; refused < 4; refused += 1) {
      expect(await show(host, surface, other, 'totp', await who.nextCode())).toBe(
        '429 rate_limited',
      )
    }
    // What was not looked at is no guess of that session.
    expect(await me(host, surface, other)).toBe('200')
    await host.auth.close()
    await host.clock.advance(15 * minute)
    expect(await show(host, surface, other, 'totp', who.code())).toBe('200')
  })

  it('a right code that is sent twice at once ends no session', async () => {
    let letGo = (): void => {}
    const gate = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let reached = (): void => {}
    const isChecked = new Promise<void>((resolve) => {
      reached = resolve
    })
    let isHeld = false
    const host = await openHostAtOneAddress({
      ...few,
      wrapBackend: (backend) =>
        withCall(backend, async (called, work) => {
          if (isHeld && called === `${surface}_totp_factors.update`) {
            reached()
            await gate
          }
          return work()
        }),
    })
    const who = await enrolled(host, surface)
    const { bearer } = who
    await show(host, surface, bearer)
    await show(host, surface, bearer)
    const code = await who.nextCode()
    isHeld = true
    const first = show(host, surface, bearer, 'totp', code)
    await isChecked
    expect(await show(host, surface, bearer, 'totp', code)).toBe('429 rate_limited')
    letGo()
    expect(await first).toBe('200')
    expect(await me(host, surface, bearer)).toBe('200')
  })

  it('with the lockout of passwords off, ten guesses end a session', async () => {
    const settings = { ...few.settings, lockoutThreshold: 0 }
    const host = await openHostAtOneAddress({ ...few, settings })
    const { bearer } = await enrolled(host, surface)
    for (let guess = 0; guess < 9; guess += 1) await show(host, surface, bearer)
    expect(await me(host, surface, bearer)).toBe('200')
    await show(host, surface, bearer)
    expect(await me(host, surface, bearer)).toBe('401 session_revoked')
  })

  it('a session whose ending failed at the last guess is ended by the next one', async () => {
    const store = faultyBackend(memory())
    const host = await openHostAtOneAddress({ ...few, backend: store.backend })
    const { bearer } = await enrolled(host, surface)
    await show(host, surface, bearer)
    await show(host, surface, bearer)
    store.failNext('denylist.put', 'before')
    expect(await show(host, surface, bearer)).toMatch(/^503 /)
    expect(await me(host, surface, bearer)).toBe('200')
    expect(await show(host, surface, bearer)).toBe('429 rate_limited')
    expect(await me(host, surface, bearer)).toBe('401 session_revoked')
  })
})
