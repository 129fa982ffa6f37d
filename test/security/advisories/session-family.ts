import assert from 'node:assert/strict'
import { decodeJwt } from 'jose'
import type { Surface } from '../../../src/ports/surface.js'
import type { OauthHost } from '../../contract/oauth/oauth-host.js'
import { signedInApp, signedInPerson } from '../../support/people/people.js'
import {
  accountsPath,
  administrator,
  grant,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import type { Family } from './family.js'

/** The tokens of a session in a browser and of one in an app, and where each is shown. */
export async function sessionFamily(host: OauthHost, surface: Surface): Promise<Family> {
  const browser = await signedInPerson(host, surface)
  const app = await signedInApp(host, surface)
  const { sid = '', jti = '', sub = '' } = decodeJwt<{ sid: string }>(browser.bearer)
  const at = (path: string) => `/v1/auth/${surface}${path}`
  const name = browser.cookie.split('=')[0]
  const own = (slot: string) => `${slot} on ${surface}`
  return {
    artefacts: {
      [own('an access token')]: {
        value: browser.bearer,
        goodAs: [
          own('bearer'),
          ...(surface === 'operator' ? ['bearer of the administration'] : []),
        ],
      },
      [own('a refresh token of a browser')]: {
        value: browser.refreshToken,
        goodAs: [own('refresh cookie'), own('cookie of a page')],
      },
      [own('a refresh token of an app')]: {
        value: app.refreshToken,
        goodAs: [own('refresh token in a body')],
      },
      [own('a session id')]: { value: sid, goodAs: [] },
      [own('a token id')]: { value: jti, goodAs: [] },
      [own('a user id')]: { value: sub, goodAs: [] },
    },
    slots: {
      [own('bearer')]: (value) => host.send('GET', at('/me'), { bearer: value }),
      [own('cookie of a page')]: (value) =>
        host.send('GET', at('/session'), { cookie: `${name}=${value}` }),
      [own('refresh token in a body')]: (value) =>
        host.send('POST', at('/refresh'), { body: { refreshToken: value } }),
      [own('refresh cookie')]: (value) =>
        host.send('POST', at('/refresh-cookie'), { cookie: `${name}=${value}` }),
    },
  }
}

/** A machine, whose secret was verified a moment ago: failures of others hold it up no more. */
export async function machineFamily(host: OauthHost): Promise<Family> {
  const admin = await administrator(host)
  const account = await serviceAccount(host, admin)
  const token = await tokenOf(host, account)
  assert.equal(decodeJwt(token).aud, 'service')
  return {
    artefacts: {
      'an access token of an administrator': {
        value: admin.bearer,
        goodAs: ['bearer of the administration', 'bearer on operator'],
      },
      'an access token of a machine': { value: token, goodAs: ['bearer of the administration'] },
      'a client id': { value: account.clientId, goodAs: [] },
      'a client secret': { value: account.clientSecret, goodAs: ['client secret'] },
    },
    slots: {
      'bearer of the administration': (value) => host.send('GET', accountsPath, { bearer: value }),
      'client secret': (value) => grant(host, { clientId: account.clientId, clientSecret: value }),
    },
  }
}
