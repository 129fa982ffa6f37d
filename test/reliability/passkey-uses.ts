import { softwareAuthenticator } from '../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../support/people/passkey-people.js'
import { type Host, outcomeOf } from './host-client.js'
import { late } from './second-factor-uses.js'
import type { SingleUse } from './single-uses.js'

const lost = /^(400 webauthn_failed|401 (invalid_mfa_code|invalid_credentials)|429 rate_limited)$/

/** Somebody with a synced passkey, whose counter tells no use from another. */
async function holder(host: Host) {
  const { password, accessToken: bearer } = await host.newLogin()
  const authenticator = softwareAuthenticator({ origin: origins.client, synced: true })
  const given = { bearer, currentPassword: password }
  const done = await passkeysOn(host, 'client').register(given, authenticator)
  if (done.status !== 201) throw new Error(`${done.status} ${done.text}`)
  return { bearer, authenticator }
}

export const passkeyUses: readonly SingleUse[] = [
  {
    kind: 'the challenge of a passkey’s registration',
    won: /^201$/,
    lost,
    async prepare(host) {
      const { password, accessToken: bearer } = await host.newLogin()
      const who = { bearer, currentPassword: password }
      const begun = await passkeysOn(host, 'client').startRegistration(who)
      const { challengeId, options } = JSON.parse(begun.text)
      const authenticator = softwareAuthenticator({ origin: origins.client })
      return {
        // Each with a credential of its own, so that only the challenge is raced for.
        attempt: async (at) => {
          const response = authenticator.create({ ...options, excludeCredentials: [] })
          const on = passkeysOn(at, 'client')
          return outcomeOf(await on.finishRegistration({ bearer }, challengeId, response))
        },
      }
    },
  },
  {
    kind: 'the challenge of a login with a passkey',
    won: /^200$/,
    lost,
    async prepare(host) {
      const { authenticator } = await holder(host)
      const { challengeId, options } = await passkeysOn(host, 'client').begunLogin()
      const response = authenticator.get(options)
      return {
        attempt: async (at) =>
          outcomeOf(await passkeysOn(at, 'client').finishLogin(challengeId, response)),
      }
    },
  },
  {
    kind: 'the challenge of a step-up with a passkey',
    won: /^200$/,
    lost: late,
    async prepare(host) {
      const { bearer, authenticator } = await holder(host)
      const { challengeId, options } = await passkeysOn(host, 'client').begunStepUp(bearer)
      const response = authenticator.get(options)
      return {
        attempt: async (at) =>
          outcomeOf(await passkeysOn(at, 'client').finishStepUp(bearer, challengeId, response)),
      }
    },
  },
]
