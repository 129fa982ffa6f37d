import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import {
  codeOf,
  enrolled,
  finish,
  passwordLogin,
  requireStepUp,
  ticketOf,
} from '../../support/people/authenticator.js'
import { signedInPerson } from '../../support/people/people.js'
import {
  comesTo,
  deviceLogin,
  deviceTokenOf,
  finishTrusting,
  trusting,
} from '../../support/people/trusted-device.js'
import { withCall } from '../../support/stores/faulty-backend.js'

/**
 * A login whose second factor was accepted, and that stands right before it opens its session. `overtake` makes
 * new backup codes there: that voids what was granted on the factors before, and ends no session.
 */
async function acceptedLogin(surface: Surface) {
  const late: (() => Promise<unknown>)[] = []
  const host = await openHost({
    ...trusting,
    wrapBackend: (backend) =>
      withCall(backend, async (called, work) => {
        if (called === `${surface}_sessions.insert`) await late.pop()?.()
        return work()
      }),
  })
  const who = await enrolled(host, surface)
  const { bearer } = who
  const post = (path: string, body?: object) =>
    host.send('POST', `/v1/auth/${surface}${path}`, { bearer, ...(body && { body }) })
  const proof = { method: 'totp', code: await who.nextCode() }
  expect(outcomeOf(await post('/step-up', proof))).toBe('200')
  const mfaToken = await ticketOf(host, surface, who)
  const code = await who.nextCode()
  const overtake = () => {
    late.push(async () => expect(outcomeOf(await post('/mfa/backup-codes'))).toBe('201'))
  }
  return { host, who, mfaToken, code, late, overtake }
}

eachSurface.describe('a login overtaken by a change of factors', (surface) => {
  it('leaves no proof of the factor that it showed', async () => {
    const { host, mfaToken, code, late, overtake } = await acceptedLogin(surface)
    overtake()
    const login = await finish(host, surface, mfaToken, code)
    expect([late, outcomeOf(login)]).toEqual([[], '200'])
    const bearer = textOf(login.json(), 'accessToken')
    await expect(requireStepUp(host, surface, bearer)).rejects.toMatchObject({
      code: 'step_up_required',
    })
  })

  it('leaves no device that stands for a factor', async () => {
    const { host, who, mfaToken, code, late, overtake } = await acceptedLogin(surface)
    overtake()
    const login = await finishTrusting(host, surface, mfaToken, code)
    expect([late, comesTo(login)]).toEqual([[], 'authenticated'])
    const deviceToken = deviceTokenOf(login, surface, 'login')
    const next = await deviceLogin(host, surface, who, deviceToken, 'login')
    expect(comesTo(next)).toBe('mfaRequired')
  })

  it('leaves both where nothing came between', async () => {
    const { host, who, mfaToken, code } = await acceptedLogin(surface)
    const login = await finishTrusting(host, surface, mfaToken, code)
    await requireStepUp(host, surface, textOf(login.json(), 'accessToken'))
    const deviceToken = deviceTokenOf(login, surface, 'login')
    const next = await deviceLogin(host, surface, who, deviceToken, 'login')
    expect(comesTo(next)).toBe('authenticated')
  })
})

/**
 * A login with the password alone, which reads the account between the two writes of an enrolment, and is about
 * to open its session when that enrolment is through.
 */
async function loginBesideEnrollment(surface: Surface) {
  let isArmed = false
  const logins: Promise<Reply>[] = []
  let reached = (): void => {}
  const hasRead = new Promise<void>((resolve) => {
    reached = resolve
  })
  let letGo = (): void => {}
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const host = await openHost({
    wrapBackend: (backend) =>
      withCall(backend, async (called, work) => {
        if (isArmed && called === `${surface}_totp_factors.update` && logins.length === 0) {
          logins.push(passwordLogin(host, surface, who))
          await hasRead
        }
        if (isArmed && called === `${surface}_sessions.insert`) {
          reached()
          await gate
        }
        return work()
      }),
  })
  const who = await signedInPerson(host, surface)
  const { bearer } = who
  const post = (path: string, body: object) =>
    host.send('POST', `/v1/auth/${surface}/mfa/totp${path}`, { bearer, body })
  const begun = await post('', { currentPassword: who.password })
  isArmed = true
  const enrolled = await post('/confirm', { code: codeOf(host, textOf(begun.json(), 'secret')) })
  letGo()
  return { host, who, enrolled, logins: await Promise.all(logins) }
}

eachSurface.describe('a login beside the first factor', (surface) => {
  it('does not get by without that factor', async () => {
    const { host, who, enrolled, logins } = await loginBesideEnrollment(surface)
    expect([outcomeOf(enrolled), logins.map(outcomeOf)]).toEqual([
      ...['200', ['401 invalid_credentials']],
    ])
    const next = await passwordLogin(host, surface, who)
    expect(next.json()['status']).toBe('mfaRequired')
    const { sessions } = storedIn(host, surface)
    const stored = await sessions.find({ userId: who.id }, { limit: 9 })
    expect(stored.filter(({ active }) => active)).toHaveLength(1)
  })
})
