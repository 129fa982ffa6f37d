import { expect, it } from 'vitest'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import {
  codeOf,
  enrolled,
  enrolledByTicket,
  finish,
  requireStepUp,
  textsOf,
  ticketOf,
} from '../../support/people/authenticator.js'
import { person, refreshByCookie, signedInPerson } from '../../support/people/people.js'

const minute = 60_000

const answer = ({ status, code }: { status: number; code: unknown }) => [status, code]

eachSurface.describe('own factors', (surface) => {
  const base = `/v1/auth/${surface}`

  it('the status says what there is, and never a secret', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const status = await host.send('GET', `${base}/mfa`, { bearer: who.bearer })
    expect(status.json()).toEqual({
      policy: 'optional',
      totp: { enrolled: true },
      backupCodes: { remaining: 10 },
      passkeys: 0,
      stepUp: { provedAt: null },
    })
  })

  it('enrolling needs the password again, and each guess counts', async () => {
    const host = await openHost({ settings: { lockoutThreshold: 3 } })
    const who = await signedInPerson(host, surface)
    const begin = async (currentPassword?: string) =>
      host.send('POST', `${base}/mfa/totp`, {
        bearer: who.bearer,
        body: currentPassword === undefined ? {} : { currentPassword },
      })
    expect(answer(await begin())).toEqual([401, 'invalid_credentials'])
    for (let guess = 0; guess < 3; guess += 1) {
      expect(answer(await begin('wrong'))).toEqual([401, 'invalid_credentials'])
    }
    expect(answer(await begin(who.password))).toEqual([401, 'session_revoked'])
    expect(await storedIn(host, surface).totpFactors.get(who.id)).toBeNull()
  })

  it.each([
    [10 * minute - 1, 200],
    [10 * minute, 401],
  ])('an enrolment that is confirmed %i ms after it began gets %i', async (ms, status) => {
    const host = await openHost()
    const { bearer, password } = await signedInPerson(host, surface)
    const begun = await host.send('POST', `${base}/mfa/totp`, {
      bearer,
      body: { currentPassword: password },
    })
    await host.clock.advance(ms)
    const body = { code: codeOf(host, textOf(begun.json(), 'secret')) }
    const done = await host.send('POST', `${base}/mfa/totp/confirm`, { bearer, body })
    expect(done.status, done.text).toBe(status)
  })

  it('a second factor is not replaced with the password alone', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const body = { currentPassword: who.password }
    const reply = await host.send('POST', `${base}/mfa/totp`, { bearer: who.bearer, body })
    expect(answer(reply)).toEqual([403, 'step_up_required'])
  })

  it('neither a token nor a ticket is a plain 401', async () => {
    const host = await openHost()
    const reply = await host.send('POST', `${base}/mfa/totp`, { body: {} })
    expect(answer(reply)).toEqual([401, undefined])
  })

  it('removing needs a proof; signing in with a password is none', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const refused = await host.send('DELETE', `${base}/mfa/totp`, { bearer: who.bearer })
    expect(answer(refused)).toEqual([403, 'step_up_required'])
    expect(refused.json()['maxAgeSeconds']).toBe(900)
    expect(refused.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_user_authentication", max_age=900',
    )
    const nobody = await signedInPerson(host, surface)
    const without = await host.send('DELETE', `${base}/mfa/totp`, { bearer: nobody.bearer })
    expect(answer(without)).toEqual([403, 'mfa_enrollment_required'])
    expect(without.json()['maxAgeSeconds']).toBe(900)
    expect(without.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_user_authentication", max_age=900',
    )
  })

  it('a proof lasts to the millisecond, and a refresh does not renew it', async () => {
    const host = await openHost({ settings: { stepUpMaxAge: '5m' } })
    const who = await enrolled(host, surface)
    const body = { method: 'totp', code: await who.nextCode() }
    const proved = await host.send('POST', `${base}/step-up`, { bearer: who.bearer, body })
    expect([proved.status, proved.json()['method']]).toEqual([200, 'totp'])
    // A host may ask for a proof of the last hour at most.
    const { stepUpProofs } = storedIn(host, surface)
    expect(await stepUpProofs.due(host.clock.now() + 60 * minute, 10)).toEqual([])
    const gate = () => requireStepUp(host, surface, who.bearer, 5 * minute)
    await host.clock.advance(5 * minute - 1)
    await gate()
    const { refreshToken } = who
    const refreshed = await refreshByCookie(host, surface, refreshToken)
    await host.clock.advance(1)
    await expect(gate()).rejects.toMatchObject({ code: 'step_up_required', maxAgeSeconds: 300 })
    const newer = textOf(refreshed.json(), 'accessToken')
    await expect(requireStepUp(host, surface, newer, 5 * minute)).rejects.toMatchObject({
      code: 'step_up_required',
    })
  })

  it('a method there is none of is named as what is wrong', async () => {
    const host = await openHost()
    const { bearer } = await signedInPerson(host, surface)
    const body = { method: 'backup', code: '000000' }
    const refused = await host.send('POST', `${base}/step-up`, { bearer, body })
    expect([refused.status, refused.json()['detail']]).toEqual([
      400,
      expect.stringContaining('"method"'),
    ])
  })

  it('a proof belongs to its session; a login with a second factor is one', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    const other = await finish(host, surface, mfaToken, await who.nextCode())
    const bearer = textOf(other.json(), 'accessToken')
    await requireStepUp(host, surface, bearer, minute)
    await expect(requireStepUp(host, surface, who.bearer, minute)).rejects.toMatchObject({
      code: 'step_up_required',
    })
  })

  it('a change of factors voids proofs of before', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const body = { method: 'totp', code: await who.nextCode() }
    await host.send('POST', `${base}/step-up`, { bearer: who.bearer, body })
    const codes = await host.send('POST', `${base}/mfa/backup-codes`, { bearer: who.bearer })
    expect([codes.status, textsOf(codes.json(), 'backupCodes').length]).toEqual([201, 10])
    const again = await host.send('POST', `${base}/mfa/backup-codes`, { bearer: who.bearer })
    expect(answer(again)).toEqual([403, 'step_up_required'])
    // The old set is void.
    const [old = ''] = who.backupCodes
    const ticket = await ticketOf(host, surface, who)
    expect(answer(await finish(host, surface, ticket, old, 'backupCode'))).toEqual([
      401,
      'invalid_mfa_code',
    ])
  })

  it('removes the app; the next login asks for nothing', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const body = { method: 'totp', code: await who.nextCode() }
    await host.send('POST', `${base}/step-up`, { bearer: who.bearer, body })
    const removed = await host.send('DELETE', `${base}/mfa/totp`, { bearer: who.bearer })
    expect(removed.status).toBe(204)
    const { email, password } = who
    const login = await host.send('POST', `${base}/login`, { body: { email, password } })
    expect(login.json()['status']).toBe('authenticated')
  })

  it('keeps the last factor where the policy requires one', async () => {
    const settings =
      surface === 'operator'
        ? ({ mfaPolicyOperator: 'required' } as const)
        : ({ mfaPolicyClient: 'required' } as const)
    const host = await openHost({ settings })
    const who = await person(host, surface)
    const bearer = await enrolledByTicket(host, surface, who)
    const refused = await host.send('DELETE', `${base}/mfa/totp`, { bearer })
    expect(answer(refused)).toEqual([409, 'last_factor_required'])
    const factor = await storedIn(host, surface).totpFactors.get(who.id)
    expect(factor?.confirmed).toBe(true)
  })
})
