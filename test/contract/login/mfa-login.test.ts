import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, storedIn, type surfaces } from '../../support/hosts/open-host.js'
import {
  codeOf,
  enrolled,
  finish,
  passwordLogin,
  textsOf,
  ticketOf,
} from '../../support/people/authenticator.js'
import { person, signedInPerson } from '../../support/people/people.js'

const answer = ({ status, code }: { status: number; code: unknown }) => [status, code]

eachSurface.describe('a login with a second factor', (surface) => {
  it('needs both: the password gives a ticket and no token', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const first = await passwordLogin(host, surface, who)
    expect([first.status, first.setCookies]).toEqual([200, []])
    expect(first.json()).toEqual({
      status: 'mfaRequired',
      mfaToken: expect.stringMatching(/^[\w-]{43}$/),
      methods: ['totp', 'backupCode'],
      expiresIn: 300,
    })
    const mfaToken = textOf(first.json(), 'mfaToken')
    const done = await finish(host, surface, mfaToken, await who.nextCode())
    expect([done.status, done.json()['status']]).toEqual([200, 'authenticated'])
    expect(refreshCookieOf(done, surface)).not.toBe('')
    expect(done.json()['refreshToken']).toBeUndefined()
    const claims = decodeJwt(textOf(done.json(), 'accessToken'))
    expect(claims['amr']).toEqual(['pwd', 'otp', 'mfa'])
    const stored = await storedIn(host, surface).sessions.get(String(claims['sid']))
    expect(stored).toMatchObject({ loginMethod: 'password', mfaMethod: 'totp' })
  })

  it('a mobile login ends in the body, whichever door it began at', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const mfaToken = await ticketOf(host, surface, who, 'mobile/login')
    const done = await finish(host, surface, mfaToken, await who.nextCode())
    expect([done.status, done.setCookies]).toEqual([200, []])
    expect(done.json()['refreshToken']).toEqual(expect.any(String))
  })

  it('a code is good once, a ticket is good once', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const tickets = await Promise.all([1, 2, 3].map(() => ticketOf(host, surface, who)))
    const code = await who.nextCode()
    const [first = '', second = '', third = ''] = tickets
    const uses = await Promise.all(tickets.map((ticket) => finish(host, surface, ticket, code)))
    expect(uses.filter(({ status }) => status === 200)).toHaveLength(1)
    const next = await who.nextCode()
    const again = await Promise.all(
      [first, second, third].map((ticket) => finish(host, surface, ticket, next)),
    )
    expect(again.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(again.filter(({ code: why }) => why === 'mfa_ticket_invalid')).toHaveLength(1)
  })

  it('a backup code is good once, by one of sixteen', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const [code = ''] = who.backupCodes
    const tickets = await Promise.all(Array.from({ length: 8 }, () => ticketOf(host, surface, who)))
    const uses = await Promise.all(
      tickets.map((ticket) => finish(host, surface, ticket, code, 'backupCode')),
    )
    expect(uses.filter(({ status }) => status === 200)).toHaveLength(1)
    const left = host.events.filter(({ type }) => type === 'mfa.backupCodeUsed')
    expect(left).toEqual([expect.objectContaining({ userId: who.id, remaining: 9 })])
  })

  it('the last wrong code destroys the ticket, the right one afterwards included', async () => {
    const host = await openHost({ settings: { mfaMaxAttempts: 3 } })
    const who = await enrolled(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    const wrong = async () => answer(await finish(host, surface, mfaToken, '000000'))
    expect(await wrong()).toEqual([401, 'invalid_mfa_code'])
    expect(await wrong()).toEqual([401, 'invalid_mfa_code'])
    expect(await wrong()).toEqual([401, 'mfa_ticket_invalid'])
    const right = await finish(host, surface, mfaToken, await who.nextCode())
    expect(answer(right)).toEqual([401, 'mfa_ticket_invalid'])
  })

  it('codes have a budget over all tickets, and a pool of their own', async () => {
    const host = await openHost({ settings: { lockoutThreshold: 3 } })
    const who = await enrolled(host, surface)
    for (let guess = 0; guess < 3; guess += 1) {
      const mfaToken = await ticketOf(host, surface, who)
      const reply = await finish(host, surface, mfaToken, '000000')
      expect(answer(reply)).toEqual([401, 'invalid_mfa_code'])
    }
    const mfaToken = await ticketOf(host, surface, who)
    const locked = await finish(host, surface, mfaToken, await who.nextCode())
    expect(answer(locked)).toEqual([429, 'rate_limited'])
    expect(host.events.filter(({ type }) => type === 'mfa.lockedOut')).toHaveLength(1)
    // Neither the password nor the other method is locked by it.
    const [code = ''] = who.backupCodes
    const other = await finish(host, surface, mfaToken, code, 'backupCode')
    expect(other.status).toBe(200)
  })

  it('a ticket lasts five minutes, and dies with a change of the account', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const late = await ticketOf(host, surface, who)
    await host.clock.advance(300_000)
    expect(answer(await finish(host, surface, late, who.code()))).toEqual([
      401,
      'mfa_ticket_invalid',
    ])
    const held = await ticketOf(host, surface, who)
    await host.auth[surface].users.update(who.id, { enabled: false })
    expect(answer(await finish(host, surface, held, await who.nextCode()))).toEqual([
      401,
      'mfa_ticket_invalid',
    ])
    await host.auth[surface].users.update(who.id, { enabled: true })
    expect(answer(await finish(host, surface, held, await who.nextCode()))).toEqual([
      401,
      'mfa_ticket_invalid',
    ])
  })

  it('a ticket of one surface is nothing on the other', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const other = surface === 'operator' ? 'client' : 'operator'
    const mfaToken = await ticketOf(host, surface, who)
    const reply = await finish(host, other, mfaToken, await who.nextCode())
    expect(answer(reply)).toEqual([401, 'mfa_ticket_invalid'])
  })

  it('an expired password is told of after the second factor, not before', async () => {
    const host = await openHost({ settings: { passwordMaxAge: '1d' } })
    const who = await enrolled(host, surface)
    await host.clock.advance(2 * 86_400_000)
    const mfaToken = await ticketOf(host, surface, who)
    const done = await finish(host, surface, mfaToken, who.code())
    expect(done.json()['status']).toBe('passwordChangeRequired')
    expect(done.setCookies).toEqual([])
  })
})

const policyOf = (surface: (typeof surfaces)[number], policy: 'off' | 'required') =>
  surface === 'operator' ? { mfaPolicyOperator: policy } : { mfaPolicyClient: policy }

eachSurface.describe('the factor policy', (surface) => {
  it('required: who has no factor enrolls one before there is a session', async () => {
    const host = await openHost({ settings: policyOf(surface, 'required') })
    const who = await person(host, surface)
    const first = await passwordLogin(host, surface, who)
    expect([first.json()['status'], first.setCookies]).toEqual(['mfaEnrollmentRequired', []])
    const mfaToken = textOf(first.json(), 'mfaToken')
    const base = `/v1/auth/${surface}/mfa/totp`
    // Good for enrolling, and for nothing else.
    expect(answer(await finish(host, surface, mfaToken, '000000'))).toEqual([
      401,
      'mfa_ticket_invalid',
    ])
    const begun = await host.send('POST', base, { body: { mfaToken } })
    expect(begun.status).toBe(201)
    const code = codeOf(host, textOf(begun.json(), 'secret'))
    const done = await host.send('POST', `${base}/confirm`, { body: { mfaToken, code } })
    expect([done.status, done.json()['status']]).toEqual([200, 'authenticated'])
    expect(textsOf(done.json(), 'backupCodes')).toHaveLength(10)
    const bearer = textOf(done.json(), 'accessToken')
    expect((await host.send('GET', `/v1/auth/${surface}/me`, { bearer })).status).toBe(200)
    const again = await host.send('POST', `${base}/confirm`, { body: { mfaToken, code } })
    expect(answer(again)).toEqual([401, 'mfa_ticket_invalid'])
  })

  it('off: an enrolled factor is not asked for', async () => {
    const host = await openHost({ settings: policyOf(surface, 'off') })
    const who = await enrolled(host, surface)
    const reply = await passwordLogin(host, surface, who)
    expect(reply.json()['status']).toBe('authenticated')
  })

  it('the other surface has a policy of its own', async () => {
    const other = surface === 'operator' ? 'client' : 'operator'
    const host = await openHost({ settings: policyOf(other, 'required') })
    await signedInPerson(host, surface)
    const reply = await passwordLogin(host, other, await person(host, other))
    expect(reply.json()['status']).toBe('mfaEnrollmentRequired')
  })

  it('a method that is switched off is neither offered nor accepted', async () => {
    const host = await openHost({ settings: { totpEnabled: false } })
    const who = await signedInPerson(host, surface)
    const base = `/v1/auth/${surface}/mfa/totp`
    const body = { currentPassword: who.password }
    const refused = await host.send('POST', base, { bearer: who.bearer, body })
    expect(answer(refused)).toEqual([403, 'mfa_method_disabled'])
  })
})
