import { ticketOf } from '../support/people/authenticator.js'
import { softwareAuthenticator } from '../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../support/people/passkey-people.js'
import { type Flow, post, request, signedInFlow, type Walk } from './flow.js'
import { wantSecondFactor } from './want-second-factor.js'

/** Somebody with a passkey; beside an app, where the walker has one. */
async function holderOf({ host, surface, enrolled }: Walk) {
  if (enrolled === null) return passkeyHolder(host, surface)
  const { bearer } = enrolled
  const code = { method: 'totp', code: await enrolled.nextCode() }
  await post({ host, surface }, '/step-up', code, { bearer })()
  const authenticator = softwareAuthenticator({ origin: origins[surface] })
  const reply = await passkeysOn(host, surface).register({ bearer }, authenticator)
  return { ...enrolled, authenticator, credentialId: String(reply.json()['credentialId']) }
}

type Holder = Awaited<ReturnType<typeof holderOf>>

const holderFlow = (
  of: string,
  name: string,
  stepOf: (walk: Walk, who: Holder) => Promise<ReturnType<typeof post>>,
): Flow => ({
  of,
  name,
  async prepare(walk) {
    const who = await holderOf(walk)
    return { step: await stepOf(walk, who), userId: who.id, email: who.email }
  },
})

async function answer(walk: Walk, { authenticator }: Holder, mfaToken?: string) {
  const begun = await passkeysOn(walk.host, walk.surface).begunLogin(mfaToken)
  const response = authenticator.get(begun.options)
  const ticket = mfaToken === undefined ? {} : { mfaToken }
  return post(walk, '/webauthn/login/verify', {
    ...ticket,
    challengeId: begun.challengeId,
    response,
  })
}

export const passkeyAfterPassword = holderFlow(
  'finishPasskeyLogin',
  'a passkey after a password on the web',
  async (walk, who) => answer(walk, who, await ticketOf(walk.host, walk.surface, who)),
)

export const passwordless: Flow = {
  ...holderFlow('finishPasskeyLogin', 'a passkey in place of both factors', answer),
  options: { settings: { webauthnMode: 'passwordless' } },
}

/** A passkey is registered on the way in: whoever has a factor already gets no ticket for it. */
export const registrationByTicket: Flow = {
  of: 'finishPasskeyRegistration',
  name: 'a passkey registered on the way in',
  async prepare(walk) {
    const { host, surface } = walk
    const { who, mfaToken } = await wantSecondFactor(walk)
    const begun = await passkeysOn(host, surface).startRegistration({ mfaToken })
    const { challengeId, options } = JSON.parse(begun.text)
    const response = softwareAuthenticator({ origin: origins[surface] }).create(options)
    const step = post(walk, '/webauthn/registration/verify', { mfaToken, challengeId, response })
    return { step, userId: who.id, email: who.email }
  },
}

export const passkeyFlows: readonly Flow[] = [
  passkeyAfterPassword,
  passwordless,
  registrationByTicket,
  signedInFlow('startPasskeyRegistration', 'with the current password', (_walk, { password }) => [
    'POST',
    '/webauthn/registration/options',
    { currentPassword: password },
  ]),
  holderFlow('startPasskeyLogin', 'after a password', async (walk, who) =>
    post(walk, '/webauthn/login/options', {
      mfaToken: await ticketOf(walk.host, walk.surface, who),
    }),
  ),
  holderFlow('startPasskeyStepUp', 'with a passkey', async (walk, { bearer }) =>
    request(walk, 'POST', '/webauthn/step-up/options', { bearer }),
  ),
  holderFlow('listPasskeys', 'the passkeys', async (walk, { bearer }) =>
    request(walk, 'GET', '/webauthn/credentials', { bearer }),
  ),
  holderFlow('deletePasskey', 'with a proof', async (walk, who) => {
    const { bearer, authenticator, credentialId } = who
    await passkeysOn(walk.host, walk.surface).stepUp(bearer, authenticator)
    return request(walk, 'DELETE', `/webauthn/credentials/${credentialId}`, { bearer })
  }),
]
