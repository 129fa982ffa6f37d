import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHostAtOneAddress, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  codeOf,
  type Enrolled,
  enrolled,
  finish,
  ticketOf,
} from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { signIn } from '../../support/people/people.js'

const minute = 60_000
const wrong = '401 invalid_mfa_code'
const limited = '429 rate_limited'
const guessed = { totp: '1234567', backupCode: '00000-00000' } as const
type Method = keyof typeof guessed

async function pass(host: ContractHost, ms: number): Promise<void> {
  await host.auth.close()
  await host.clock.advance(ms)
}

/** Somebody who knows the password shows one code; the outcome. */
async function show(
  host: ContractHost,
  surface: Surface,
  who: Enrolled,
  method: Method,
  code?: string,
) {
  const mfaToken = await ticketOf(host, surface, who)
  return outcomeOf(await finish(host, surface, mfaToken, code ?? guessed[method], method))
}

/** As many wrong codes as are looked at; how many that were. */
async function useUp(host: ContractHost, surface: Surface, who: Enrolled, method: Method) {
  for (let looked = 0; ; looked += 1) {
    const outcome = await show(host, surface, who, method)
    if (outcome === limited) return looked
    expect(outcome).toBe(wrong)
  }
}

const mails = (host: ContractHost) =>
  host.mailer.sent.filter(({ template }) => template === 'secondFactorLockedOut')

eachHost.describe('guessing codes with the password known', (kind) => {
  eachSurface.describe((surface) => {
    it('takes twice as long after each lockout, and the owner is told of the first', async () => {
      const host = await openHostAtOneAddress(
        { ...withoutLimits, settings: { ...withoutLimits.settings, lockoutThreshold: 3 } },
        kind,
      )
      const who = await enrolled(host, surface)
      for (const length of [15, 30, 60, 120]) {
        const from = host.clock.now()
        expect(await useUp(host, surface, who, 'totp')).toBe(3)
        const until = eventsOf(host, 'mfa.lockedOut').at(-1)?.until ?? 0
        expect(until - from).toBe(length * minute)
        await pass(host, length * minute - 1)
        expect(await show(host, surface, who, 'totp')).toBe(limited)
        await pass(host, 1)
        // The owner gets in, which does not make it shorter for whoever guesses.
        expect(await show(host, surface, who, 'totp', who.code())).toBe('200')
      }
      expect(eventsOf(host, 'mfa.lockedOut')).toHaveLength(4)
      expect(mails(host)).toMatchObject([{ to: who.email, data: { method: 'totp' } }])
    })
  })
})

eachSurface.describe('guessing codes with the password known', (surface) => {
  it('in six hours forty-nine codes are looked at, and in the long run ten a day', async () => {
    const host = await openHostAtOneAddress(withoutLimits)
    const who = await enrolled(host, surface)
    let looked = 0
    async function hours(count: number) {
      for (let quarter = 0; quarter < count * 4; quarter += 1) {
        looked += await useUp(host, surface, who, 'totp')
        await pass(host, 15 * minute)
      }
    }
    await hours(6)
    expect(looked).toBe(49)
    await hours(66)
    looked = 0
    await hours(48)
    expect(looked).toBeLessThanOrEqual(20)
    expect(mails(host)).toHaveLength(1)
  })

  it('who stops before each lockout has forty-nine codes a day, and the owner is told', async () => {
    const host = await openHostAtOneAddress(withoutLimits)
    const who = await enrolled(host, surface)
    let looked = 0
    /** Nine at a time: the tenth would lock. */
    async function rounds(count: number) {
      for (let round = 0; round < count; round += 1) {
        for (let guess = 0; guess < 9; guess += 1) {
          if ((await show(host, surface, who, 'totp')) === wrong) looked += 1
        }
        await pass(host, 15 * minute)
      }
    }
    await rounds(5)
    expect([looked, mails(host)]).toEqual([45, []])
    // The owner's own code does not set the count back.
    expect(await show(host, surface, who, 'totp', who.code())).toBe('200')
    await rounds(4)
    expect(looked).toBe(49)
    await host.auth.close()
    expect(mails(host)).toMatchObject([{ data: { method: 'totp' } }])
    await pass(host, 22 * 60 * minute)
    expect(await show(host, surface, who, 'totp', who.code())).toBe(limited)
    await pass(host, 60 * minute)
    expect(await show(host, surface, who, 'totp', who.code())).toBe('200')
  })

  it('codes of the app and backup codes count apart, and lengthen together', async () => {
    const host = await openHostAtOneAddress({
      ...withoutLimits,
      settings: { ...withoutLimits.settings, lockoutThreshold: 3 },
    })
    const who = await enrolled(host, surface)
    await useUp(host, surface, who, 'totp')
    expect(await show(host, surface, who, 'backupCode', who.backupCodes[0])).toBe('200')
    const from = host.clock.now()
    await useUp(host, surface, who, 'backupCode')
    const [first, second] = eventsOf(host, 'mfa.lockedOut').map(({ until }) => until - from)
    expect([first, second]).toEqual([15 * minute, 30 * minute])
  })

  it('wrong passkeys lock no longer each time, and hide no first lockout of codes', async () => {
    const settings = { ...withoutLimits.settings, lockoutThreshold: 3 }
    const host = await openHostAtOneAddress({ ...withoutLimits, settings })
    const who = await enrolled(host, surface)
    const on = passkeysOn(host, surface)
    // Of an account of the one who guesses.
    const other = await passkeyHolder(host, surface)
    const { options } = await on.begunLogin(await ticketOf(host, surface, other))
    const response = other.authenticator.get(options)
    const lengths: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const from = host.clock.now()
      for (let guess = 0; guess < 3; guess += 1) {
        const mfaToken = await ticketOf(host, surface, who)
        await on.finishLogin('A'.repeat(22), response, mfaToken)
      }
      lengths.push((eventsOf(host, 'mfa.lockedOut').at(-1)?.until ?? 0) - from)
      await pass(host, 15 * minute)
    }
    expect(lengths).toEqual([15 * minute, 15 * minute, 15 * minute])
    await useUp(host, surface, who, 'totp')
    await host.auth.close()
    expect(mails(host)).toMatchObject([{ data: { method: 'totp' } }])
  })

  it('without a lockout of passwords, codes have one all the same', async () => {
    const settings = { ...withoutLimits.settings, lockoutThreshold: 0 }
    const host = await openHostAtOneAddress({ ...withoutLimits, settings })
    const who = await enrolled(host, surface)
    expect(await useUp(host, surface, who, 'totp')).toBe(10)
  })

  it('mails nobody where the setting says so, nor an account that has no address', async () => {
    const settings = { ...withoutLimits.settings, notifySecurityChanges: false }
    const host = await openHostAtOneAddress({ ...withoutLimits, settings })
    const who = await enrolled(host, surface)
    await useUp(host, surface, who, 'totp')
    await host.auth.close()
    expect(mails(host)).toEqual([])
  })

  it('a reset of the factors forgets what was guessed at the old ones', async () => {
    const host = await openHostAtOneAddress(withoutLimits)
    const who = await enrolled(host, surface)
    await useUp(host, surface, who, 'totp')
    await host.auth[surface].users.resetMfa(who.id)
    const { bearer } = await signIn(host, surface, who)
    const base = `/v1/auth/${surface}/mfa/totp`
    const body = { currentPassword: who.password }
    const secret = textOf((await host.send('POST', base, { bearer, body })).json(), 'secret')
    await host.send('POST', `${base}/confirm`, { bearer, body: { code: codeOf(host, secret) } })
    await pass(host, 30_000)
    expect(await show(host, surface, who, 'totp', codeOf(host, secret))).toBe('200')
  })
})
