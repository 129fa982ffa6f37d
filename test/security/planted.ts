import assert from 'node:assert/strict'
import { changeSettings, type OauthHost } from '../contract/oauth/oauth-host.js'
import { type Reply, refreshCookieOf, textOf } from '../support/hosts/http-client.js'
import { mailedToken, outcomeOf } from '../support/hosts/open-host.js'

export const victim = 'victim@gmail.com'
export const strangers = 'the password of a stranger'
const elsewhere = 'stranger@example.net'

/** A host on which a stranger registered the victim's address, and signed in. */
export interface Squatted {
  readonly host: OauthHost
  readonly bearer: string
  readonly cookie: string
}

export interface Planted {
  /** Tries it; a status, and a code where it is refused. */
  use(): Promise<string>
}

/** Something that a stranger has of the account before its mailbox is proved. */
export interface Credential {
  readonly plant: (squatted: Squatted) => Promise<Planted>
  /** What its use comes to while it is good, … */
  readonly alive: string
  /** … once it was retired, … */
  readonly dead: string
  /** … and where passwords are switched off, as far as that makes a difference. */
  readonly off?: { readonly alive: string; readonly dead?: string }
}

export const post = (
  { host }: Pick<Squatted, 'host'>,
  path: string,
  body: object,
  more: object = {},
): Promise<Reply> => host.send('POST', `/v1/auth/client${path}`, { body, ...more })

export async function squat(host: OauthHost): Promise<Squatted> {
  const reply = await post({ host }, '/register', { email: victim, password: strangers })
  assert.equal(reply.status, 201, reply.text)
  const bearer = textOf(reply.json(), 'accessToken')
  return { host, bearer, cookie: refreshCookieOf(reply, 'client') }
}

const using = (ask: () => Promise<Reply>): Planted => ({ use: async () => outcomeOf(await ask()) })

/** What cannot be planted: the attempt is refused, and that is all that can be seen of it. */
function refusedAt(ask: (squatted: Squatted) => Promise<Reply>): Credential {
  return {
    async plant(squatted) {
      const refused = outcomeOf(await ask(squatted))
      return { use: async () => `never: ${refused}` }
    },
    alive: 'never: 403 email_not_verified',
    dead: 'never: 403 email_not_verified',
  }
}

const currentPassword = strangers

export const credentials: Readonly<Record<string, Credential>> = {
  'the password': {
    plant: async (squatted) =>
      using(() => post(squatted, '/login', { email: victim, password: strangers })),
    alive: '200',
    dead: '401 invalid_credentials',
    off: { alive: '403 password_login_disabled', dead: '403 password_login_disabled' },
  },
  'an access token': {
    plant: async ({ host, bearer }) =>
      using(() => host.send('GET', '/v1/auth/client/me', { bearer })),
    alive: '200',
    dead: '401 session_revoked',
  },
  'the refresh token of an app': {
    async plant(squatted) {
      const login = await post(squatted, '/mobile/login', { email: victim, password: strangers })
      const refreshToken = textOf(login.json(), 'refreshToken')
      return using(() => post(squatted, '/refresh', { refreshToken }))
    },
    alive: '200',
    dead: '401 session_revoked',
  },
  'the cookie of a browser': {
    plant: async ({ host, cookie }) =>
      using(() => host.send('GET', '/v1/auth/client/session', { cookie })),
    alive: '200',
    dead: '401 session_revoked',
  },
  'a token for a password too old': {
    async plant(squatted) {
      const { host } = squatted
      await host.auth.close()
      await changeSettings(host, { passwordMaxAge: '1d' })
      await host.clock.advance(25 * 60 * 60_000)
      const login = await post(squatted, '/login', { email: victim, password: strangers })
      const token = textOf(login.json(), 'passwordToken')
      await changeSettings(host, { passwordMaxAge: '' })
      const newPassword = 'another password of the stranger'
      return using(() => post(squatted, '/password/reset', { token, newPassword }))
    },
    alive: '204',
    dead: '400 invalid_token',
    off: { alive: '403 password_login_disabled' },
  },
  'a reset link': {
    async plant(squatted) {
      await post(squatted, '/password/forgot', { email: victim })
      const token = await mailedToken(squatted.host, 'resetPassword', victim)
      squatted.host.mailer.clear()
      const newPassword = 'another password of the stranger'
      return using(() => post(squatted, '/password/reset', { token, newPassword }))
    },
    alive: '204',
    dead: '400 invalid_token',
    off: { alive: '403 password_login_disabled' },
  },
  'a link that moves the account': {
    async plant(squatted) {
      const { host, bearer } = squatted
      await post(squatted, '/me/email', { newEmail: elsewhere, currentPassword }, { bearer })
      const token = await mailedToken(host, 'changeEmail', elsewhere)
      return using(() => post(squatted, '/email/verify', { token, currentPassword }))
    },
    alive: '200',
    dead: '400 invalid_token',
    off: { alive: '403 password_login_disabled', dead: '400 invalid_token' },
  },
  'an authenticator app': refusedAt((squatted) =>
    post(squatted, '/mfa/totp', { currentPassword }, { bearer: squatted.bearer }),
  ),
  'a passkey': refusedAt((squatted) =>
    post(squatted, '/webauthn/registration/options', { currentPassword }, squatted),
  ),
  'a login that lacks a factor': refusedAt(async (squatted) => {
    await changeSettings(squatted.host, { mfaPolicyClient: 'required' })
    const login = await post(squatted, '/login', { email: victim, password: strangers })
    await changeSettings(squatted.host, { mfaPolicyClient: 'off' })
    return login
  }),
}
