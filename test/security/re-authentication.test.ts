import { expect, it } from 'vitest'
import type { Surface } from '../../src/ports/surface.js'
import { oauthHost, webTarget } from '../contract/oauth/oauth-host.js'
import { textOf } from '../support/hosts/http-client.js'
import { eachSurface } from '../support/hosts/matrix.js'
import { outcomeOf } from '../support/hosts/open-host.js'

interface Door {
  readonly method: string
  readonly path: string
  readonly body?: object
  /** What it answers a login that is young enough. */
  readonly young: string
}

const ofOperators: Readonly<Record<string, Door>> = {
  'one more provider': {
    method: 'POST',
    path: '/oauth/github/link',
    body: { redirectUri: webTarget.operator },
    young: '200',
  },
  'the end of a link': {
    method: 'DELETE',
    path: '/oauth/google/link',
    young: '409 last_login_method',
  },
}

/** The changes that ask for the current password, or for a factor, of an account that has one. */
const doors = (surface: Surface): Readonly<Record<string, Door>> => ({
  'a deletion of the account': { method: 'DELETE', path: '/me', young: '204' },
  'a change of the address': {
    method: 'POST',
    path: '/me/email',
    body: { newEmail: 'another@example.org' },
    young: '202',
  },
  'an authenticator app': { method: 'POST', path: '/mfa/totp', young: '201' },
  'a passkey': { method: 'POST', path: '/webauthn/registration/options', young: '200' },
  ...(surface === 'operator' ? ofOperators : {}),
})

const settings = { stepUpMaxAge: '1m', accountDeletionMode: 'both' } as const
const account = { subject: '1', email: 'ada@example.org', verified: true }

eachSurface.describe('an account without a password and without a factor', (on) => {
  it.each(Object.entries(doors(on)))(
    'needs a login of the last minute for %s',
    async (_what, door) => {
      const host = await oauthHost({ mailedCode: false, settings })
      const signIn = async () =>
        textOf((await host.signInApp(on, 'google', account)).json(), 'accessToken')
      const { method, path, body = {}, young } = door
      const knock = (bearer: string) => host.send(method, `/v1/auth/${on}${path}`, { bearer, body })

      const older = await signIn()
      await host.clock.advance(1_000)
      const newer = await signIn()
      await host.clock.advance(59_000)
      const refused = await knock(older)
      expect(outcomeOf(refused)).toBe('403 step_up_required')
      expect(refused.json()).toMatchObject({ maxAgeSeconds: 60 })
      expect(outcomeOf(await knock(newer))).toBe(young)
    },
  )
})
