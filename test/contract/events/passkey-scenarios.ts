import { ticketOf } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import {
  type Holder,
  origins,
  passkeyHolder,
  passkeysOn,
} from '../../support/people/passkey-people.js'
import { signedInPerson } from '../../support/people/people.js'
import { type Scenario, type Scene, sessionOf, told } from './event-scenario.js'

const subjectOf = (who: Holder) => ({ id: who.id, sessionId: sessionOf(who.refreshToken) })

const changed = (id: string, change: string) =>
  told('mfa.changed', 'success', { userId: id, actorId: id, change })

const passwordless = { settings: { webauthnMode: 'passwordless' } } as const

async function withTicket({ host, surface }: Scene) {
  const who = await passkeyHolder(host, surface)
  return { who, mfaToken: await ticketOf(host, surface, who), on: passkeysOn(host, surface) }
}

/** Every way passkeys are registered, shown and removed. */
export const passkeyScenarios: readonly Scenario[] = [
  {
    of: 'startPasskeyRegistration',
    name: 'options that nothing has come of yet',
    outcome: '200',
    tells: () => [],
    prepare: async ({ host, surface }) => {
      const { bearer, password: currentPassword } = await signedInPerson(host, surface)
      const who = { bearer, currentPassword }
      return { perform: () => passkeysOn(host, surface).startRegistration(who) }
    },
  },
  {
    of: 'finishPasskeyRegistration',
    name: 'a first passkey',
    outcome: '201',
    tells: ({ id }) => [changed(id, 'passkeyAdded')],
    prepare: async ({ host, surface }) => {
      const who = await signedInPerson(host, surface)
      const given = { bearer: who.bearer, currentPassword: who.password }
      const authenticator = softwareAuthenticator({ origin: origins[surface] })
      return {
        subject: who,
        perform: () => passkeysOn(host, surface).register(given, authenticator),
      }
    },
  },
  {
    of: 'deletePasskey',
    name: 'with a proof',
    outcome: '204',
    tells: ({ id }) => [changed(id, 'passkeyRemoved')],
    prepare: async ({ host, surface }) => {
      const who = await passkeyHolder(host, surface)
      const on = passkeysOn(host, surface)
      await on.stepUp(who.bearer, who.authenticator)
      return { subject: who, perform: () => on.remove(who.bearer, who.credentialId) }
    },
  },
  {
    of: 'startPasskeyLogin',
    name: 'options for anybody',
    outcome: '200',
    options: passwordless,
    tells: () => [],
    prepare: async ({ host, surface }) => ({
      perform: () => passkeysOn(host, surface).startLogin(),
    }),
  },
  {
    of: 'finishPasskeyLogin',
    name: 'the second factor of a login',
    outcome: '200',
    tells: ({ id }) => [
      told('login.succeeded', 'success', {
        userId: id,
        method: 'password',
        mfaMethod: 'webauthn',
        amr: ['pwd', 'pop', 'user', 'mfa'],
      }),
    ],
    prepare: async (scene) => {
      const { who, mfaToken, on } = await withTicket(scene)
      return { subject: who, perform: () => on.login(who.authenticator, mfaToken) }
    },
  },
  {
    of: 'finishPasskeyLogin',
    name: 'in place of both factors',
    outcome: '200',
    options: passwordless,
    tells: ({ id }) => [
      told('login.succeeded', 'success', {
        userId: id,
        method: 'webauthn',
        mfaMethod: 'webauthn',
        amr: ['pop', 'user', 'mfa'],
      }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await passkeyHolder(host, surface)
      return { subject: who, perform: () => passkeysOn(host, surface).login(who.authenticator) }
    },
  },
  {
    of: 'finishPasskeyLogin',
    name: 'a signature of another key',
    outcome: '401 invalid_credentials',
    options: passwordless,
    // The signature is what tells whose it is.
    tells: () => [
      told('login.failed', null, {
        userId: null,
        method: 'webauthn',
        reason: 'signature_invalid',
      }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await passkeyHolder(host, surface)
      const departure = { otherKey: true } as const
      return {
        subject: who,
        perform: () => passkeysOn(host, surface).login(who.authenticator, undefined, departure),
      }
    },
  },
  {
    of: 'finishPasskeyLogin',
    name: 'a counter that went back',
    outcome: '401 invalid_credentials',
    tells: ({ id }) => [
      told('mfa.passkeyCounterRegressed', 'failure', {
        userId: id,
        storedCounter: 7,
        shownCounter: 7,
      }),
      told('mfa.failed', 'failure', {
        userId: id,
        method: 'webauthn',
        reason: 'counter_regressed',
      }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await passkeyHolder(host, surface, {}, { counter: 7 })
      const mfaToken = await ticketOf(host, surface, who)
      const departure = { counter: 7 }
      return {
        subject: who,
        perform: () => passkeysOn(host, surface).login(who.authenticator, mfaToken, departure),
      }
    },
  },
  {
    of: 'finishPasskeyLogin',
    name: 'a passkey that is synced from now on',
    outcome: '200',
    tells: ({ id }) => [
      told('mfa.passkeyBackupChanged', 'success', {
        userId: id,
        backedUp: true,
        backupEligible: true,
      }),
      told('login.succeeded', 'success', { userId: id, method: 'password' }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await passkeyHolder(host, surface, { synced: true }, { backedUp: false })
      const mfaToken = await ticketOf(host, surface, who)
      return {
        subject: who,
        perform: () => passkeysOn(host, surface).login(who.authenticator, mfaToken),
      }
    },
  },
  {
    of: 'finishPasskeyLogin',
    name: 'the wrong response that locks passkeys as second factor',
    outcome: '401 invalid_credentials',
    options: { settings: { lockoutThreshold: 3 } },
    tells: ({ id }) => [
      told('mfa.lockedOut', 'failure', { userId: id, method: 'webauthn', sessionId: null }),
      told('mfa.failed', 'failure', {
        userId: id,
        method: 'webauthn',
        sessionId: null,
        reason: 'signature_invalid',
      }),
    ],
    prepare: async (scene) => {
      const { who, mfaToken, on } = await withTicket(scene)
      const guess = () => on.login(who.authenticator, mfaToken, { otherKey: true })
      await guess()
      await guess()
      return { subject: who, perform: guess }
    },
  },
  {
    of: 'startPasskeyStepUp',
    name: 'options for a proof',
    outcome: '200',
    tells: () => [],
    prepare: async ({ host, surface, post }) => {
      const { bearer } = await passkeyHolder(host, surface)
      return { perform: () => post('/webauthn/step-up/options', { bearer }) }
    },
  },
  {
    of: 'verifyStepUp',
    name: 'a passkey',
    outcome: '200',
    tells: ({ id, sessionId }) => [
      told('mfa.steppedUp', 'success', { userId: id, sessionId, method: 'webauthn' }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await passkeyHolder(host, surface)
      return {
        subject: subjectOf(who),
        perform: () => passkeysOn(host, surface).stepUp(who.bearer, who.authenticator),
      }
    },
  },
]
