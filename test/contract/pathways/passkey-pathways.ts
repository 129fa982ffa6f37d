import { textOf } from '../../support/hosts/http-client.js'
import { passwordLogin, ticketOf } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { person } from '../../support/people/people.js'
import type { Pathway, Walk } from './pathway.js'
import { ticketCells } from './second-factor-pathways.js'
import { sender } from './sender.js'

/** Somebody with a passkey; beside an app, when a control gave them one. */
async function holder({ host, surface, enrolled }: Walk) {
  if (enrolled === null) return passkeyHolder(host, surface)
  const { bearer } = enrolled
  const code = { method: 'totp', code: await enrolled.nextCode() }
  await host.send('POST', `/v1/auth/${surface}/step-up`, { bearer, body: code })
  const authenticator = softwareAuthenticator({ origin: origins[surface] })
  await passkeysOn(host, surface).register({ bearer }, authenticator)
  return { ...enrolled, authenticator }
}

/** A passkey is registered on the way in: whoever has a factor already gets no ticket for it. */
async function enrollment({ host, surface }: Walk) {
  await host.set({ config: { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } })
  const who = await person(host, surface)
  const first = await passwordLogin(host, surface, who)
  const mfaToken = textOf(first.json(), 'mfaToken')
  const begun = await passkeysOn(host, surface).startRegistration({ mfaToken })
  const { challengeId, options } = JSON.parse(begun.text)
  const response = softwareAuthenticator({ origin: origins[surface] }).create(options)
  const body = { mfaToken, challengeId, response }
  const step = sender({ host, surface }, '/webauthn/registration/verify', body)
  return { step, userId: who.id, email: who.email }
}

export const passkeyPathways: readonly Pathway[] = [
  {
    of: 'finishPasskeyLogin',
    name: 'a passkey after a password on the web',
    async prepare(walk) {
      const who = await holder(walk)
      const mfaToken = await ticketOf(walk.host, walk.surface, who)
      const { challengeId, options } = await passkeysOn(walk.host, walk.surface).begunLogin(
        mfaToken,
      )
      const body = { mfaToken, challengeId, response: who.authenticator.get(options) }
      const step = sender(walk, '/webauthn/login/verify', body)
      return { step, userId: who.id, email: who.email }
    },
    cells: ticketCells,
  },
  {
    of: 'finishPasskeyLogin',
    name: 'a passkey in place of both factors',
    options: { settings: { webauthnMode: 'passwordless' } },
    async prepare(walk) {
      const who = await holder(walk)
      const { challengeId, options } = await passkeysOn(walk.host, walk.surface).begunLogin()
      const body = { challengeId, response: who.authenticator.get(options) }
      const step = sender(walk, '/webauthn/login/verify', body)
      return { step, userId: who.id, email: who.email }
    },
    cells: {
      nothing: 'tokens',
      // It is both factors, which is what a second one and the policy ask for.
      'a second factor': 'tokens',
      'a policy that wants a second factor': 'tokens',
      'a disabled account': '401 invalid_credentials',
      'a service principal': '401 invalid_credentials',
      'an unverified address': '403 email_not_verified',
      'guesses at the password used up': 'tokens',
      'requests used up': '429 rate_limited',
      'the other surface': '401 invalid_credentials',
    },
  },
  {
    of: 'finishPasskeyRegistration',
    name: 'a passkey registered on the way in',
    prepare: enrollment,
    cells: {
      ...ticketCells,
      'a second factor': { cannot: 'who has a factor gets no ticket for enrolling one' },
    },
  },
]
