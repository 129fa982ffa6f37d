import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled, finish, ticketOf } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { goodPassword, otherPassword, type Person, person } from '../../support/people/people.js'
import { pass } from '../events/event-scenario.js'

const day = 86_400_000
const home = { 'x-forwarded-for': '192.0.2.7', 'user-agent': 'Browser/1.0 (Laptop)' }
const elsewhere = { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'App/3 (Phone)' }

function login(
  host: ContractHost,
  surface: Surface,
  { email }: Person,
  password: string,
  headers = home,
) {
  const body = { email, password }
  return host.send('POST', `/v1/auth/${surface}/login`, { body, headers })
}

async function guess(host: ContractHost, surface: Surface, who: Person, times: number) {
  for (let made = 0; made < times; made += 1) {
    expect((await login(host, surface, who, otherPassword, elsewhere)).status).toBe(401)
  }
}

/** The templates of the mails about logins, and why the suspicious ones were sent. */
async function mailsTo(host: ContractHost, { email }: Person): Promise<readonly string[]> {
  await host.auth.close()
  return host.mailer.sent.flatMap((mail) => {
    if (mail.to !== email) return []
    if (mail.template === 'loginSuspicious') return [mail.data.reason]
    return mail.template === 'newDevice' || mail.template === 'secondFactorLockedOut'
      ? [mail.template]
      : []
  })
}

eachSampleStore.describe('guesses beside the right password', (kind) => {
  eachSurface.describe((surface) => {
    it('three wrong passwords and the right one, from a known device, are mailed once a day', async () => {
      const host = await openHost(withoutLimits, kind)
      const who = await person(host, surface)
      expect((await login(host, surface, who, goodPassword)).status).toBe(200)
      await guess(host, surface, who, 2)
      await login(host, surface, who, goodPassword)
      expect(await mailsTo(host, who)).toEqual([])
      await guess(host, surface, who, 3)
      const at = host.clock.now()
      await login(host, surface, who, goodPassword)
      expect(await mailsTo(host, who)).toEqual(['password'])
      const told = { at, reason: 'password', ip: '192.0.2.7', userAgent: home['user-agent'] }
      const about = { surface, to: who.email, name: 'Ada' }
      expect(host.mailer.last('loginSuspicious', who.email)).toEqual({
        ...about,
        template: 'loginSuspicious',
        data: told,
      })
      for (let round = 0; round < 3; round += 1) {
        await guess(host, surface, who, 4)
        await login(host, surface, who, goodPassword)
      }
      expect(await mailsTo(host, who)).toEqual(['password'])
      await pass(host, day)
      await guess(host, surface, who, 3)
      await login(host, surface, who, goodPassword)
      expect(await mailsTo(host, who)).toEqual(['password', 'password'])
    })

    it('the third wrong code after the right password is mailed, once a day', async () => {
      const host = await openHost(withoutLimits, kind)
      const who = await enrolled(host, surface)
      const show = async (code: string) => {
        const mfaToken = await ticketOf(host, surface, who)
        return (await finish(host, surface, mfaToken, code)).status
      }
      expect([await show('0000000'), await show('0000000')]).toEqual([401, 401])
      expect(await mailsTo(host, who)).toEqual([])
      expect(await show('0000000')).toBe(401)
      expect(await mailsTo(host, who)).toEqual(['secondFactor'])
      expect(await show('0000000')).toBe(401)
      expect(await show(await who.nextCode())).toBe(200)
      for (const code of ['0000000', '0000000', '0000000']) await show(code)
      expect(await mailsTo(host, who)).toEqual(['secondFactor'])
    })
  })
})

eachSurface.describe('who is told of guesses', (surface) => {
  it('the owner of a passkey, at the third wrong response', async () => {
    const host = await openHost(withoutLimits)
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const show = async () => {
      const mfaToken = await ticketOf(host, surface, who)
      return (await on.login(who.authenticator, mfaToken, { otherKey: true })).status
    }
    expect([await show(), await show()]).toEqual([401, 401])
    expect(await mailsTo(host, who)).toEqual([])
    expect(await show()).toBe(401)
    expect(await mailsTo(host, who)).toEqual(['secondFactor'])
  })

  it('the owner of a second factor, before it is shown: the one who guessed may not have it', async () => {
    const host = await openHost(withoutLimits)
    const who = await enrolled(host, surface)
    await guess(host, surface, who, 3)
    const reply = await login(host, surface, who, goodPassword)
    expect(reply.json()['status']).toBe('mfaRequired')
    expect(await mailsTo(host, who)).toEqual(['password'])
  })

  it('the owner of a login from a new device is mailed of the device alone', async () => {
    const host = await openHost(withoutLimits)
    const who = await person(host, surface)
    await login(host, surface, who, goodPassword)
    await guess(host, surface, who, 3)
    expect((await login(host, surface, who, goodPassword, elsewhere)).status).toBe(200)
    expect(await mailsTo(host, who)).toEqual(['newDevice'])
  })

  it('a third guess that locks is mailed as a lockout alone', async () => {
    const settings = { ...withoutLimits.settings, lockoutThreshold: 3 }
    const host = await openHost({ ...withoutLimits, settings })
    const who = await enrolled(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    for (const code of ['0000000', '0000000', '0000000']) {
      await finish(host, surface, mfaToken, code)
    }
    expect(await mailsTo(host, who)).toEqual(['secondFactorLockedOut'])
  })

  it.each(['totp', 'passkey'])(
    'the owner whose lockout has no mail, at the guess that locks: %s',
    async (method) => {
      const settings = { ...withoutLimits.settings, lockoutThreshold: 3, lockoutDuration: '15m' }
      const host = await openHost({ ...withoutLimits, settings })
      const who = method === 'totp' ? await enrolled(host, surface) : null
      const holder = method === 'totp' ? null : await passkeyHolder(host, surface)
      const round = async () => {
        if (who !== null) {
          const mfaToken = await ticketOf(host, surface, who)
          for (const code of ['0000000', '0000000', '0000000']) {
            await finish(host, surface, mfaToken, code)
          }
        }
        if (holder !== null) {
          const mfaToken = await ticketOf(host, surface, holder)
          const on = passkeysOn(host, surface)
          for (let shown = 0; shown < 3; shown += 1) {
            await on.login(holder.authenticator, mfaToken, { otherKey: true })
          }
        }
      }
      await round()
      const owner = who ?? holder
      if (owner === null) throw new Error('no owner')
      const first = method === 'totp' ? 'secondFactorLockedOut' : 'secondFactor'
      expect(await mailsTo(host, owner)).toEqual([first])
      await pass(host, day)
      await round()
      expect(await mailsTo(host, owner)).toEqual([first, 'secondFactor'])
    },
  )

  it('of a login elsewhere after one at a known place, which has a mail of its own', async () => {
    const settings = { ...withoutLimits.settings, notifyNewDevice: false }
    const host = await openHost({ ...withoutLimits, settings })
    const who = await person(host, surface)
    await login(host, surface, who, goodPassword)
    for (const place of [home, home, elsewhere, elsewhere]) {
      await guess(host, surface, who, 3)
      await login(host, surface, who, goodPassword, place)
    }
    await host.auth.close()
    const told = host.mailer.sent.flatMap((mail) =>
      mail.template === 'loginSuspicious' ? [mail.data.ip] : [],
    )
    expect(told).toEqual(['192.0.2.7', '203.0.113.9'])
  })

  it('of a login elsewhere that waits for its second factor, after one at a known place', async () => {
    const host = await openHost(withoutLimits)
    const who = await enrolled(host, surface)
    const begun = await login(host, surface, who, goodPassword)
    const { mfaToken } = begun.json()
    const headers = home
    const body = { mfaToken, method: 'totp', code: await who.nextCode() }
    const done = await host.send('POST', `/v1/auth/${surface}/login/mfa`, { body, headers })
    expect(done.status, done.text).toBe(200)
    for (const place of [home, home, elsewhere, elsewhere]) {
      await guess(host, surface, who, 3)
      const reply = await login(host, surface, who, goodPassword, place)
      expect(reply.json()['status']).toBe('mfaRequired')
    }
    await host.auth.close()
    const told = host.mailer.sent.flatMap((mail) =>
      mail.template === 'loginSuspicious' ? [mail.data.ip] : [],
    )
    expect(told).toEqual(['192.0.2.7', '203.0.113.9'])
  })

  it('no one where the setting says no, and no one of an address that is only guessed at', async () => {
    const settings = { ...withoutLimits.settings, notifySecurityChanges: false }
    const silent = await openHost({ ...withoutLimits, settings })
    const who = await person(silent, surface)
    await guess(silent, surface, who, 3)
    await login(silent, surface, who, goodPassword)
    expect(await mailsTo(silent, who)).toEqual([])
    const host = await openHost(withoutLimits)
    const other = await person(host, surface)
    await guess(host, surface, other, 9)
    expect(await mailsTo(host, other)).toEqual([])
  })
})
