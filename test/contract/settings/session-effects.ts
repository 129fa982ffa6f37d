import { decodeJwt } from 'jose'
import type { SettingKey } from '../../../src/settings/settings.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { outcomeOf, surfaces } from '../../support/hosts/open-host.js'
import {
  goodPassword,
  otherPassword,
  person,
  signedInPerson,
  signIn,
  signInApp,
} from '../../support/people/people.js'
import { changePassword, login, me, post } from './actions.js'
import type { Effect, Effects } from './effect.js'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** The switch of password login; without it the surface needs a provider. */
const passwordLogin = (key: SettingKey, google: SettingKey): Effect => ({
  when: [
    ['true', '200, 200, 202'],
    [
      {
        config: {
          [key]: 'false',
          [google]: 'true',
          googleClientId: 'client',
          googleClientSecret: 'planted-google-secret',
        },
      },
      '403 password_login_disabled, 403 password_login_disabled, 403 password_login_disabled',
    ],
  ],
  async see(host, surface) {
    const { email, password } = await person(host, surface)
    const replies = [
      await post(host, surface, '/login', { email, password }),
      await post(host, surface, '/mobile/login', { email, password }),
      await post(host, surface, '/password/forgot', { email }),
    ]
    return replies.map(outcomeOf).join(', ')
  },
})

/** The groups Login & Sessions and Sessions & Account. */
export const sessionEffects: Effects = {
  passwordLoginOperatorEnabled: passwordLogin(
    'passwordLoginOperatorEnabled',
    'googleOperatorEnabled',
  ),
  passwordLoginClientEnabled: passwordLogin('passwordLoginClientEnabled', 'googleClientEnabled'),
  accessTokenTTL: {
    when: [
      ['5m', '300, 300'],
      ['1m', '60, 60'],
      ['', '900, 900'],
      ['48h', '86400, 86400'],
    ],
    async see(host, surface) {
      const body = (await login(host, surface, await person(host, surface))).json()
      const { exp = 0, iat = 0 } = decodeJwt(textOf(body, 'accessToken'))
      return `${body['expiresIn']}, ${exp - iat}`
    },
  },
  sessionAbsoluteTTL: {
    when: [
      ['1h', '401 session_max_age_reached, 401 session_max_age_reached'],
      ['2h', '200, 200'],
      ['', '200, 200'],
    ],
    async see(host, surface) {
      const who = await person(host, surface)
      const { refreshToken } = await signInApp(host, surface, who)
      const { cookie } = await signIn(host, surface, who)
      await host.clock.advance(hour + second)
      const refreshed = await post(host, surface, '/refresh', { refreshToken })
      const seen = await host.send('GET', `/v1/auth/${surface}/session`, { cookie })
      return `${outcomeOf(refreshed)}, ${outcomeOf(seen)}`
    },
  },
  refreshReuseGrace: {
    when: [
      ['0s', '200, 401 refresh_token_reused'],
      ['10s', '200, 200'],
    ],
    async see(host, surface) {
      const { refreshToken } = await signInApp(host, surface, await person(host, surface))
      const first = await post(host, surface, '/refresh', { refreshToken })
      const again = await post(host, surface, '/refresh', { refreshToken })
      return `${outcomeOf(first)}, ${outcomeOf(again)}`
    },
  },
  cookieSameSite: {
    when: [
      ['lax', 'Lax'],
      ['strict', 'Strict'],
      ['none', 'None'],
    ],
    async see(host, surface) {
      const reply = await login(host, surface, await person(host, surface))
      refreshCookieOf(reply, surface)
      return /SameSite=(\w+)/.exec(reply.setCookies.join())?.[1] ?? 'without'
    },
  },
  maxConcurrentSessions: {
    when: [
      ['0', '200, 200'],
      ['1', '401 session_revoked, 200'],
    ],
    async see(host, surface) {
      const who = await person(host, surface)
      const first = await signIn(host, surface, who)
      await host.clock.advance(second)
      const next = await signIn(host, surface, who)
      return `${await me(host, surface, first.bearer)}, ${await me(host, surface, next.bearer)}`
    },
  },
  accountDeletionMode: {
    when: [
      ['client', 'operator 403 account_deletion_disabled 200, client 204 401 session_revoked'],
      ['both', 'operator 204 401 session_revoked, client 204 401 session_revoked'],
      [
        'off',
        'operator 403 account_deletion_disabled 200, client 403 account_deletion_disabled 200',
      ],
    ],
    // Of both surfaces, whichever is asked about: what one value says is not the same of each.
    async see(host) {
      const seen = surfaces.map(async (surface) => {
        const { bearer, password } = await signedInPerson(host, surface)
        const given = { bearer, body: { currentPassword: password } }
        const deleted = await host.send('DELETE', `/v1/auth/${surface}/me`, given)
        return `${surface} ${outcomeOf(deleted)} ${await me(host, surface, bearer)}`
      })
      return (await Promise.all(seen)).join(', ')
    },
  },
  revokeSessionsOnPasswordChange: {
    when: [
      ['true', '204, 401 session_revoked'],
      ['false', '204, 200'],
    ],
    async see(host, surface) {
      const who = await person(host, surface)
      const other = await signIn(host, surface, who)
      const changed = await changePassword(host, surface, who, [goodPassword, otherPassword])
      return `${changed}, ${await me(host, surface, other.bearer)}`
    },
  },
}
