import { expect, it } from 'vitest'
import { textOf } from '../../support/http-client.js'
import type { Account } from '../../support/provider-stub/account.js'
import { codeOf, enrolled } from '../authenticator.js'
import { outcomeOf, storedIn, storedUser, surfaces } from '../open-host.js'
import { memberOf, oauthHost, tripCookieOf, waitingOf, webTarget } from './oauth-host.js'

const ada: Account = { subject: '1815', email: 'ada@example.org', verified: true }

it('T-86 T-88 a login that waits for its second factor ends with the link it came by', async () => {
  const host = await oauthHost()
  const who = await enrolled(host, 'operator')
  const { bearer } = who
  const body = { method: 'totp', code: await who.nextCode() }
  await host.send('POST', '/v1/auth/operator/step-up', { bearer, body })
  const at = '/v1/auth/operator/oauth/google/link'
  const begun = await host.send('POST', at, { bearer, body: { redirectUri: webTarget.operator } })
  const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), ada)
  await host.comeBack('operator', 'google', brought, tripCookieOf(begun))

  const waiting = await host.signIn('operator', 'google', ada)
  expect(memberOf(waiting, 'status')).toBe('mfaRequired')
  expect((await host.send('DELETE', at, { bearer })).status).toBe(204)
  const { mfaToken, cookie } = waitingOf(waiting)
  const late = await host.send('POST', '/v1/auth/operator/login/mfa', {
    cookie,
    body: { mfaToken, method: 'totp', code: await who.nextCode() },
  })
  expect([outcomeOf(late), late.setCookies]).toEqual(['401 mfa_ticket_invalid', []])
})

it.each(surfaces)(
  'T-86 T-88 MF-3 on %s an account that is unlinked gets no factor by a login of before',
  async (surface) => {
    const policy = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
    const host = await oauthHost({ settings: policy })
    const { mfaToken, cookie } = waitingOf(await host.signIn(surface, 'google', ada))
    const send = (path: string, more: object = {}) => {
      const body = { mfaToken, ...more }
      return host.send('POST', `/v1/auth/${surface}/mfa/totp${path}`, { cookie, body })
    }
    const secret = textOf((await send('')).json(), 'secret')
    const { id } = await storedUser(host, surface, 'ada@example.org')
    const { oauthIdentities, totpFactors } = storedIn(host, surface)
    const [identity] = await oauthIdentities.find({ userId: id }, { limit: 1 })
    await oauthIdentities.take(identity?.id ?? '')
    expect(outcomeOf(await send(''))).toBe('401 mfa_ticket_invalid')
    const confirmed = await send('/confirm', { code: codeOf(host, secret) })
    expect(outcomeOf(confirmed)).toBe('401 mfa_ticket_invalid')
    expect((await totpFactors.get(id))?.confirmed).toBe(false)
  },
)
