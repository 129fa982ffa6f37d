import { textOf } from '../../support/hosts/http-client.js'
import { provedOperator } from '../../support/people/administrator.js'
import {
  codeOf,
  type Enrolled,
  enrolled,
  finish,
  passwordLogin,
  ticketOf,
} from '../../support/people/authenticator.js'
import { signedInPerson } from '../../support/people/people.js'
import { type Scenario, type Scene, sessionOf, told } from './event-scenario.js'

const subjectOf = (who: Enrolled) => ({ id: who.id, sessionId: sessionOf(who.refreshToken) })

/** Somebody whose session has just shown a second factor. */
async function provedIn({ host, surface, post }: Scene): Promise<Enrolled> {
  const who = await enrolled(host, surface)
  const body = { method: 'totp', code: await who.nextCode() }
  await post('/step-up', { bearer: who.bearer, body })
  return who
}

const changed = (id: string, change: string) =>
  told('mfa.changed', 'success', { userId: id, actorId: id, change })

const withCode = (mfaMethod: string) => ({
  method: 'password',
  mfaMethod,
  amr: ['pwd', 'otp', 'mfa'],
})

const by = { actorId: 'ops-7', ip: '192.0.2.7', userAgent: 'back office' } as const

/** Every way second factors are enrolled, shown and removed. */
export const mfaScenarios: readonly Scenario[] = [
  {
    of: 'resetUserMfa',
    name: 'somebody’s, by an operator',
    outcome: '204',
    options: { authorizer: { check: async () => true } },
    tells: ({ id, sessionId }) => [
      told('session.terminated', 'success', { userId: id, reason: 'admin', actorId: sessionId }),
      told('mfa.changed', 'success', { userId: id, actorId: sessionId, change: 'factorsReset' }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await enrolled(host, surface)
      const admin = await provedOperator(host)
      const path = `/v1/auth/operator/users/${who.id}/mfa-reset`
      return {
        // Who did it takes the place of the session.
        subject: { id: who.id, sessionId: admin.id },
        perform: () => host.send('POST', path, { bearer: admin.bearer, body: { surface } }),
      }
    },
  },
  {
    of: 'users.resetMfa',
    name: 'on behalf of an operator',
    outcome: 'done',
    tells: ({ id }) => [
      told('session.terminated', 'success', { userId: id, reason: 'admin', ...by }),
      told('mfa.changed', 'success', { userId: id, change: 'factorsReset', ...by }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await enrolled(host, surface)
      return {
        subject: who,
        perform: async () =>
          (await host.auth[surface].users.resetMfa(who.id, by)) ? 'done' : 'nobody',
      }
    },
  },
  {
    of: 'enrollTotp',
    name: 'a secret that is no factor yet',
    outcome: '201',
    tells: () => [],
    prepare: async ({ host, surface, post }) => {
      const who = await signedInPerson(host, surface)
      const body = { currentPassword: who.password }
      return { perform: () => post('/mfa/totp', { bearer: who.bearer, body }) }
    },
  },
  {
    of: 'confirmTotp',
    name: 'a first code',
    outcome: '200',
    tells: ({ id }) => [changed(id, 'totpEnrolled')],
    prepare: async ({ host, surface, post }) => {
      const who = await signedInPerson(host, surface)
      const { bearer } = who
      const begun = await post('/mfa/totp', { bearer, body: { currentPassword: who.password } })
      const code = codeOf(host, textOf(begun.json(), 'secret'))
      return {
        subject: who,
        perform: () => post('/mfa/totp/confirm', { bearer, body: { code } }),
      }
    },
  },
  {
    of: 'removeTotp',
    name: 'with a proof',
    outcome: '204',
    tells: ({ id }) => [changed(id, 'totpRemoved')],
    prepare: async (scene) => {
      const who = await provedIn(scene)
      const path = `/v1/auth/${scene.surface}/mfa/totp`
      return {
        subject: who,
        perform: () => scene.host.send('DELETE', path, { bearer: who.bearer }),
      }
    },
  },
  {
    of: 'regenerateBackupCodes',
    name: 'with a proof',
    outcome: '201',
    tells: ({ id }) => [changed(id, 'backupCodesRegenerated')],
    prepare: async (scene) => {
      const who = await provedIn(scene)
      return {
        subject: who,
        perform: () => scene.post('/mfa/backup-codes', { bearer: who.bearer }),
      }
    },
  },
  {
    of: 'login',
    name: 'the right password of somebody with a second factor',
    outcome: '200',
    tells: ({ id }) => [
      told('mfa.required', 'success', { userId: id, method: 'password', missing: 'secondFactor' }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await enrolled(host, surface)
      return { subject: who, perform: () => passwordLogin(host, surface, who) }
    },
  },
  {
    of: 'completeLoginMfa',
    name: 'the right code',
    outcome: '200',
    tells: ({ id }) => [told('login.succeeded', 'success', { userId: id, ...withCode('totp') })],
    prepare: async ({ host, surface }) => {
      const who = await enrolled(host, surface)
      const mfaToken = await ticketOf(host, surface, who)
      const code = await who.nextCode()
      return { subject: who, perform: () => finish(host, surface, mfaToken, code) }
    },
  },
  {
    of: 'completeLoginMfa',
    name: 'a backup code',
    outcome: '200',
    tells: ({ id }) => [
      told('mfa.backupCodeUsed', 'success', { userId: id, remaining: 9 }),
      told('login.succeeded', 'success', { userId: id, ...withCode('backupCode') }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await enrolled(host, surface)
      const mfaToken = await ticketOf(host, surface, who)
      const [code = ''] = who.backupCodes
      return { subject: who, perform: () => finish(host, surface, mfaToken, code, 'backupCode') }
    },
  },
  {
    of: 'completeLoginMfa',
    name: 'the wrong code that locks the method',
    outcome: '401 invalid_mfa_code',
    options: { settings: { lockoutThreshold: 3 } },
    tells: ({ id }) => [
      told('mfa.lockedOut', 'failure', { userId: id, method: 'totp', sessionId: null }),
      told('mfa.failed', 'failure', { userId: id, method: 'totp', sessionId: null }),
    ],
    prepare: async ({ host, surface }) => {
      const who = await enrolled(host, surface)
      const mfaToken = await ticketOf(host, surface, who)
      const guess = () => finish(host, surface, mfaToken, '000000')
      await guess()
      await guess()
      return { subject: who, perform: guess }
    },
  },
  {
    of: 'stepUp',
    name: 'the last wrong code that a session may show',
    outcome: '401 invalid_mfa_code',
    options: { settings: { lockoutThreshold: 3 } },
    tells: ({ id, sessionId }) => [
      told('mfa.lockedOut', 'failure', { userId: id, method: 'totp', sessionId }),
      told('mfa.failed', 'failure', { userId: id, method: 'totp', sessionId }),
      told('session.terminated', 'success', { userId: id, sessionId, reason: 'guesses' }),
    ],
    prepare: async ({ host, surface, post }) => {
      const who = await enrolled(host, surface)
      const guess = () =>
        post('/step-up', { bearer: who.bearer, body: { method: 'totp', code: '0000000' } })
      await guess()
      await guess()
      return { subject: subjectOf(who), perform: guess }
    },
  },
  {
    of: 'verifyStepUp',
    name: 'the right code',
    outcome: '200',
    tells: ({ id, sessionId }) => [
      told('mfa.steppedUp', 'success', { userId: id, sessionId, method: 'totp' }),
    ],
    prepare: async ({ host, surface, post }) => {
      const who = await enrolled(host, surface)
      const body = { method: 'totp', code: await who.nextCode() }
      return {
        subject: subjectOf(who),
        perform: () => post('/step-up', { bearer: who.bearer, body }),
      }
    },
  },
]
