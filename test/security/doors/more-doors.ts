import { type ProviderId, providerIds } from '../../../src/identity-providers/providers.js'
import { oauthOptions, oauthSteps, webTarget } from '../../contract/oauth/oauth-host.js'
import { type Flow, post, request, strangeAddress, type Walk } from '../../flows/flow.js'
import { callback } from '../../flows/oauth-flows.js'
import { textOf } from '../../support/hosts/http-client.js'
import { mailedToken, storedIn } from '../../support/hosts/open-host.js'
import { codeOf, type Enrolled, enrolled, ticketOf } from '../../support/people/authenticator.js'
import {
  type SoftwareAuthenticator,
  softwareAuthenticator,
} from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { goodPassword, otherPassword, signIn } from '../../support/people/people.js'
import { registrationCookieOf } from '../../support/people/registration-steps.js'
import type { Door } from './walked-doors.js'

const { stub, settings } = await oauthOptions(() => Date.UTC(2026, 0, 1))
const withProviders = { fetcher: stub, settings }

let newcomers = 0

/** Somebody of whom the surface has no account, back from a provider. */
const signUp = (provider: ProviderId): Flow => ({
  of: provider === 'apple' ? 'oauthCallbackFormPost' : 'oauthCallback',
  name: `a new account by ${provider}`,
  options: withProviders,
  async prepare({ host, surface }) {
    newcomers += 1
    const account = { subject: String(9000 + newcomers), email: strangeAddress(), verified: true }
    const steps = oauthSteps(host, stub)
    const { authorizationUrl, cookie } = await steps.depart(surface, provider)
    const brought = stub.agree(authorizationUrl, account)
    return { step: () => steps.comeBack(surface, provider, brought, cookie) }
  },
})

const linking: Door = {
  surfaces: ['operator'],
  of: 'oauthCallback',
  name: 'an account of google that is being linked',
  options: withProviders,
  async prepare({ host, surface, who }) {
    newcomers += 1
    const { bearer } = await signIn(host, surface, who)
    const body = { redirectUri: webTarget[surface], currentPassword: who.password }
    const reply = await host.send('POST', `/v1/auth/${surface}/oauth/google/link`, { bearer, body })
    const cookie = reply.setCookies.map((one) => one.split(';')[0]).join('; ')
    const account = { subject: String(9000 + newcomers), email: strangeAddress(), verified: true }
    const brought = stub.agree(textOf(reply.json(), 'authorizationUrl'), account)
    return { step: () => oauthSteps(host, stub).comeBack(surface, 'google', brought, cookie) }
  },
}

const unproved: Flow = {
  of: 'login',
  name: 'a password of an account whose mailbox is not proved',
  async prepare(walk) {
    const { host, surface, who } = walk
    const { users } = storedIn(host, surface)
    await users.update(who.id, { email: who.email }, { emailVerifiedAt: null })
    return { step: post(walk, '/login', { email: who.email, password: who.password }) }
  },
}

/** The link of a registration, in the browser that registered or with the password chosen at the link. */
const confirmation = (name: string, isBound: boolean): Door => ({
  of: 'verifyEmail',
  name,
  options: { settings: { emailVerificationRequired: true } },
  async prepare(walk) {
    const email = strangeAddress()
    const begun = await post(walk, '/register', { email, password: goodPassword })()
    const token = await mailedToken(walk.host, 'verifyEmail', email)
    const step = isBound
      ? post(
          walk,
          '/email/verify',
          { token },
          {
            cookie: registrationCookieOf(begun) ?? '',
          },
        )
      : post(walk, '/email/verify', { token, newPassword: otherPassword })
    return { step }
  },
})

interface Both {
  readonly who: Enrolled
  readonly authenticator: SoftwareAuthenticator
}

/** Somebody with an app and a passkey. */
async function holderOfBoth({ host, surface }: Walk): Promise<Both> {
  const who = await enrolled(host, surface)
  const { bearer } = who
  const proof = { method: 'totp', code: await who.nextCode() }
  await post({ host, surface }, '/step-up', proof, { bearer })()
  const authenticator = softwareAuthenticator({ origin: origins[surface] })
  await passkeysOn(host, surface).register({ bearer }, authenticator)
  return { who, authenticator }
}

const bothFlow = (
  of: string,
  name: string,
  stepOf: (walk: Walk, both: Both) => Promise<ReturnType<typeof post>>,
): Flow => ({
  of,
  name: `${name}, of somebody with an authenticator app and a passkey`,
  prepare: async (walk) => ({ step: await stepOf(walk, await holderOfBoth(walk)) }),
})

const code = async (who: Enrolled) => ({ method: 'totp', code: await who.nextCode() })

/** Doors of operations that the catalogue has another flow of. */
export const moreDoors: readonly Door[] = [
  unproved,
  confirmation('the link of a registration, in its browser', true),
  confirmation('the link of a registration, with a password chosen there', false),
  ...providerIds.map(signUp),
  callback('oauthCallback', 'microsoft'),
  callback('oauthCallback', 'github'),
  linking,
  bothFlow('completeLoginMfa', 'a code of the authenticator app', async (walk, { who }) =>
    post(walk, '/login/mfa', {
      mfaToken: await ticketOf(walk.host, walk.surface, who),
      ...(await code(who)),
    }),
  ),
  bothFlow('completeLoginMfa', 'a backup code', async (walk, { who }) =>
    post(walk, '/login/mfa', {
      mfaToken: await ticketOf(walk.host, walk.surface, who),
      method: 'backupCode',
      code: who.backupCodes[0],
    }),
  ),
  bothFlow('finishPasskeyLogin', 'a passkey after a password', async (walk, { who, ...held }) => {
    const mfaToken = await ticketOf(walk.host, walk.surface, who)
    const { challengeId, options } = await passkeysOn(walk.host, walk.surface).begunLogin(mfaToken)
    const response = held.authenticator.get(options)
    return post(walk, '/webauthn/login/verify', { mfaToken, challengeId, response })
  }),
  bothFlow('startPasskeyLogin', 'after a password', async (walk, { who }) =>
    post(walk, '/webauthn/login/options', {
      mfaToken: await ticketOf(walk.host, walk.surface, who),
    }),
  ),
  bothFlow('verifyStepUp', 'a code of the authenticator app', async (walk, { who }) =>
    post(walk, '/step-up', await code(who), { bearer: who.bearer }),
  ),
  bothFlow('startPasskeyStepUp', 'with a passkey', async (walk, { who }) =>
    request(walk, 'POST', '/webauthn/step-up/options', { bearer: who.bearer }),
  ),
  {
    of: 'startPasskeyLogin',
    name: 'in place of both factors',
    prepare: async (walk) => ({ step: post(walk, '/webauthn/login/options', {}) }),
  },
  {
    of: 'verifyStepUp',
    name: 'a passkey',
    async prepare(walk) {
      const { host, surface } = walk
      const { bearer, authenticator } = await passkeyHolder(host, surface)
      const { challengeId, options } = await passkeysOn(host, surface).begunStepUp(bearer)
      const response = authenticator.get(options)
      const step = post(walk, '/step-up', { method: 'webauthn', challengeId, response }, { bearer })
      return { step }
    },
  },
  {
    of: 'confirmTotp',
    name: 'an authenticator app enrolled within a session',
    async prepare(walk) {
      const { host, surface, who } = walk
      const { bearer } = await signIn(host, surface, who)
      const begun = await post(walk, '/mfa/totp', { currentPassword: who.password }, { bearer })()
      const shown = codeOf(host, textOf(begun.json(), 'secret'))
      return { step: post(walk, '/mfa/totp/confirm', { code: shown }, { bearer }) }
    },
  },
  {
    of: 'finishPasskeyRegistration',
    name: 'a passkey registered within a session',
    async prepare(walk) {
      const { host, surface, who } = walk
      const { bearer } = await signIn(host, surface, who)
      const given = { bearer, currentPassword: who.password }
      const begun = await passkeysOn(host, surface).startRegistration(given)
      const { challengeId, options } = JSON.parse(begun.text)
      const response = softwareAuthenticator({ origin: origins[surface] }).create(options)
      const body = { challengeId, response }
      return { step: post(walk, '/webauthn/registration/verify', body, { bearer }) }
    },
  },
]
