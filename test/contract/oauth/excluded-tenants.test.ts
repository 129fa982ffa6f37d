import { expect, it } from 'vitest'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { tenants } from '../../support/outside/provider-stub/account.js'
import {
  flowCookieOf,
  memberOf,
  type OauthHost,
  oauthHost,
  storeSettings,
  waitingOf,
  webTarget,
} from './oauth-host.js'

const of = (tenant: string) => ({ subject: '1815', email: 'a@example.org', verified: true, tenant })

/** An administrator lets in one tenant, where all were let in before. */
const letInAcmeAlone = (host: OauthHost) => storeSettings(host, { microsoftTenant: tenants.acme })

eachSurface.describe('people of a tenant that was shut out', (surface) => {
  it.each([
    ['acme', '200'],
    ['evil', '400 invalid_token'],
  ] as const)('exchange no code of before: %s', async (name, outcome) => {
    const host = await oauthHost()
    const url = await host.departFromApp(surface, 'microsoft')
    const brought = host.stub.agree(url, of(tenants[name]))
    const back = await host.comeBack(surface, 'microsoft', brought)
    await letInAcmeAlone(host)
    expect(outcomeOf(await host.exchange(surface, memberOf(back, 'code')))).toBe(outcome)
  })

  it.each([
    ['acme', '201'],
    ['evil', '401 mfa_ticket_invalid'],
  ] as const)('go on with no login of before: %s', async (name, outcome) => {
    const settings = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
    const host = await oauthHost({ settings })
    const waiting = await host.signIn(surface, 'microsoft', of(tenants[name]))
    const { mfaToken, cookie } = waitingOf(waiting)
    await letInAcmeAlone(host)
    const begun = await host.send('POST', `/v1/auth/${surface}/mfa/totp`, {
      cookie,
      body: { mfaToken },
    })
    expect(outcomeOf(begun)).toBe(outcome)
  })
})

it.each([
  ['acme', '204'],
  ['evil', '409 last_login_method'],
] as const)('what they are linked to is no way in that is left: %s', async (name, outcome) => {
  const host = await oauthHost({ mailedCode: false })
  const account = of(tenants[name])
  const bearer = textOf(
    (await host.signInApp('operator', 'microsoft', account)).json(),
    'accessToken',
  )
  const at = '/v1/auth/operator/oauth/github/link'
  const begun = await host.send('POST', at, { bearer, body: { redirectUri: webTarget.operator } })
  const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), account)
  const linked = await host.comeBack('operator', 'github', brought, flowCookieOf(begun))
  expect(memberOf(linked, 'status')).toBe('linked')
  await letInAcmeAlone(host)
  expect(outcomeOf(await host.send('DELETE', at, { bearer }))).toBe(outcome)
})
