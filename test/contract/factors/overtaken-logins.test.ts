import { describe, expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { textOf } from '../../support/hosts/http-client.js'
import { openHost, outcomeOf, surfaces } from '../../support/hosts/open-host.js'
import { enrolled, finish, requireStepUp, ticketOf } from '../../support/people/authenticator.js'
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

describe.each(surfaces)('a login overtaken by a change of factors on the %s surface', (surface) => {
  it('T-45 leaves no proof of the factor that it showed', async () => {
    const { host, mfaToken, code, late, overtake } = await acceptedLogin(surface)
    overtake()
    const login = await finish(host, surface, mfaToken, code)
    expect([late, outcomeOf(login)]).toEqual([[], '200'])
    const bearer = textOf(login.json(), 'accessToken')
    await expect(requireStepUp(host, surface, bearer)).rejects.toMatchObject({
      code: 'step_up_required',
    })
  })

  it('T-45 leaves no device that stands for a factor', async () => {
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
