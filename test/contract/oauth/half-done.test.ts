import { expect, it } from 'vitest'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { outcomeOf, storedIn, storedUser } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { codeOf, type Enrolled, enrolled } from '../../support/people/authenticator.js'
import {
  flowCookieOf,
  memberOf,
  type OauthHost,
  oauthHost,
  storeSettings,
  waitingOf,
  webTarget,
} from './oauth-host.js'

const ada: Account = { subject: '1815', email: 'ada@example.org', verified: true }

const at = '/v1/auth/operator/oauth/google/link'

async function link(host: OauthHost, bearer: string, account: Account): Promise<void> {
  const begun = await host.send('POST', at, { bearer, body: { redirectUri: webTarget.operator } })
  const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), account)
  const back = await host.comeBack('operator', 'google', brought, flowCookieOf(begun))
  expect(memberOf(back, 'status')).toBe('linked')
}

/** An operator with a second factor, shown just now, who can sign in with `ada`. */
async function linked(host: OauthHost): Promise<Enrolled> {
  const who = await enrolled(host, 'operator')
  const { bearer } = who
  const body = { method: 'totp', code: await who.nextCode() }
  await host.send('POST', '/v1/auth/operator/step-up', { bearer, body })
  await link(host, bearer, ada)
  return who
}

it('a login that waits for its second factor ends with the link it came by', async () => {
  const host = await oauthHost()
  const who = await linked(host)
  const { bearer } = who
  const waiting = await host.signIn('operator', 'google', ada)
  expect(memberOf(waiting, 'status')).toBe('mfaRequired')
  expect((await host.send('DELETE', at, { bearer })).status).toBe(204)
  const { mfaToken, cookie } = waitingOf(waiting)
  const late = await host.send('POST', '/v1/auth/operator/login/mfa', {
    cookie,
    body: { mfaToken, method: 'totp', code: await who.nextCode() },
  })
  expect([outcomeOf(late), late.setCookies]).toEqual(['401 mfa_ticket_invalid', []])
  // Another account of the same provider does not bring it back.
  const grace = { ...ada, subject: '1906' }
  await link(host, bearer, grace)
  const finish = async ({ mfaToken: ticket, cookie: own }: ReturnType<typeof waitingOf>) => {
    const body = { mfaToken: ticket, method: 'totp', code: await who.nextCode() }
    const reply = await host.send('POST', '/v1/auth/operator/login/mfa', { cookie: own, body })
    return outcomeOf(reply)
  }
  expect(await finish({ mfaToken, cookie })).toBe('401 mfa_ticket_invalid')
  expect(await finish(waitingOf(await host.signIn('operator', 'google', grace)))).toBe('200')
})

it('a login that waits is not good again by a link that is only begun', async () => {
  const host = await oauthHost()
  const who = await linked(host)
  const { mfaToken, cookie } = waitingOf(await host.signIn('operator', 'google', ada))
  const { oauthIdentities } = storedIn(host, 'operator')
  const [identity] = await oauthIdentities.find({ userId: who.id }, { limit: 1 })
  if (identity === undefined) throw new Error('nothing is linked')
  await oauthIdentities.update(identity.id, { userId: who.id }, { removingBy: 'link begun' })
  const body = { mfaToken, method: 'totp', code: await who.nextCode() }
  const late = await host.send('POST', '/v1/auth/operator/login/mfa', { cookie, body })
  expect(outcomeOf(late)).toBe('401 mfa_ticket_invalid')
})

eachSurface.it(
  'a login that waits ends when its provider is switched off, in an app too',
  async (surface) => {
    const settings = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
    const host = await oauthHost({ settings })
    const web = waitingOf(await host.signIn(surface, 'google', ada))
    const apple = waitingOf(await host.signIn(surface, 'apple', { ...ada, email: 'a@example.org' }))
    const app = {
      mfaToken: textOf((await host.signInApp(surface, 'google', ada)).json(), 'mfaToken'),
    }
    const begin = async ({ mfaToken, cookie = '' }: { mfaToken: string; cookie?: string }) => {
      const path = `/v1/auth/${surface}/mfa/totp`
      return outcomeOf(await host.send('POST', path, { cookie, body: { mfaToken } }))
    }
    expect([await begin(web), await begin(app), await begin(apple)]).toEqual(['201', '201', '201'])
    const door = surface === 'client' ? 'Client' : 'Operator'
    await storeSettings(host, { [`google${door}Enabled`]: 'false' })
    const ended = '401 mfa_ticket_invalid'
    expect([await begin(web), await begin(app), await begin(apple)]).toEqual([ended, ended, '201'])
  },
)

eachSurface.it(
  'an account that is unlinked gets no factor by a login of before',
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
