import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { provedOperator } from '../../support/people/administrator.js'
import { enrolled } from '../../support/people/authenticator.js'
import type { Person } from '../../support/people/people.js'
import { deviceLogin, trusting, trustingPerson } from '../../support/people/trusted-device.js'

async function mailsTo(host: ContractHost, { email }: Person): Promise<readonly unknown[]> {
  await host.auth.close()
  return host.mailer.sent.filter(({ to }) => to === email)
}

eachSurface.describe('what owners are mailed of their factors', (surface: Surface) => {
  it('each change, with its time and without a secret', async () => {
    const host = await openHost()
    const { bearer, ...who } = await provedOperator(host, surface)
    const at = host.clock.now()
    const about = { surface, to: who.email, name: 'Ada', template: 'mfaChanged' }
    const enrolledAt = at - 30_000
    const enrolment = { ...about, data: { at: enrolledAt, change: 'totpEnrolled' } }
    expect(await mailsTo(host, who)).toEqual([enrolment])
    const base = `/v1/auth/${surface}/mfa`
    expect((await host.send('POST', `${base}/backup-codes`, { bearer })).status).toBe(201)
    const regenerated = { ...about, data: { at, change: 'backupCodesRegenerated' } }
    expect(await mailsTo(host, who)).toEqual([enrolment, regenerated])
  })

  it('a removed app', async () => {
    const host = await openHost()
    const { bearer, ...who } = await provedOperator(host, surface)
    await mailsTo(host, who)
    host.mailer.clear()
    expect((await host.send('DELETE', `/v1/auth/${surface}/mfa/totp`, { bearer })).status).toBe(204)
    expect(await mailsTo(host, who)).toMatchObject([{ data: { change: 'totpRemoved' } }])
  })

  it('a device that becomes trusted, at a login and in a session, from where that was', async () => {
    const host = await openHost(trusting)
    const who = await trustingPerson(host, surface)
    const at = host.clock.now()
    const about = { surface, to: who.email, name: 'Ada', template: 'deviceTrusted' }
    const trusted = { ...about, data: { at, ip: expect.any(String), userAgent: 'node' } }
    const ofTrust = async () => (await mailsTo(host, who)).slice(1)
    expect(await ofTrust()).toEqual([trusted])
    const path = `/v1/auth/${surface}/devices`
    const headers = { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'App/3' }
    const body = { name: '<b>laptop</b>' }
    const reply = await host.send('POST', path, { bearer: who.trustedBearer, body, headers })
    expect(reply.status, reply.text).toBe(201)
    const again = { ...about, data: { at, ip: '203.0.113.9', userAgent: 'App/3' } }
    expect(await ofTrust()).toEqual([trusted, again])
    // The use of a trusted device is no change.
    await deviceLogin(host, surface, who, who.deviceToken, 'login')
    expect(await ofTrust()).toEqual([trusted, again])
  })

  it('nothing of a trusted device where the setting says no', async () => {
    const settings = { ...trusting.settings, notifySecurityChanges: false }
    const host = await openHost({ settings })
    expect(await mailsTo(host, await trustingPerson(host, surface))).toEqual([])
  })

  it('nothing where the setting says no', async () => {
    const host = await openHost({ settings: { notifySecurityChanges: false } })
    expect(await mailsTo(host, await enrolled(host, surface))).toEqual([])
  })

  it('a mailer that fails undoes no change', async () => {
    const host = await openHost()
    host.mailer.fail(new Error('no relay'))
    const who = await enrolled(host, surface)
    await host.auth.close()
    expect(who.backupCodes).toHaveLength(10)
    expect(host.events.at(-1)).toMatchObject({ type: 'mail.failed', template: 'mfaChanged' })
  })
})
