import { storedIn } from '../../support/hosts/open-host.js'
import type { Enrolled } from '../../support/people/authenticator.js'
import {
  accountsPath,
  administrator,
  grant,
  type IssuedCredential,
  type MadeAccount,
  peopleMay,
  revoke,
  rotate,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import { type Scenario, type Scene, told } from './event-scenario.js'

const options = { authorizer: peopleMay }
const surfaces = ['operator'] as const

async function withAccount({ host }: Scene) {
  const who = await administrator(host)
  return { host, who, made: await serviceAccount(host, who) }
}

/** A grant that is refused, and why, which its caller is not told. */
function refusedGrant(
  name: string,
  reason: string,
  record: 'failure' | null,
  spoil: (given: {
    readonly scene: Scene
    readonly who: Enrolled
    readonly made: MadeAccount
  }) => Promise<Partial<IssuedCredential>>,
): Scenario {
  return {
    of: 'issueServiceToken',
    name,
    outcome: '401 invalid_client',
    options,
    surfaces,
    tells: ({ id, sessionId: credentialId }) => [
      told(
        'serviceToken.refused',
        record,
        record === null
          ? { reason, userId: null, credentialId: null }
          : { reason, userId: id, credentialId },
      ),
    ],
    prepare: async (scene) => {
      const { host, who, made } = await withAccount(scene)
      const credential = { ...made, ...(await spoil({ scene, who, made })) }
      return {
        subject: { id: made.id, sessionId: made.credentialId },
        perform: () => grant(host, credential),
      }
    },
  }
}

const grants: readonly Scenario[] = [
  {
    of: 'issueServiceToken',
    name: 'an active credential, told every time and recorded once an hour',
    outcome: '200',
    options,
    surfaces,
    tells: ({ id, sessionId: credentialId }) => [
      told('serviceToken.issued', 'success', { userId: id, credentialId }),
      told('serviceToken.issued', null, { userId: id, credentialId }),
    ],
    prepare: async (scene) => {
      const { host, made } = await withAccount(scene)
      const headers = { 'x-forwarded-for': '192.0.2.77' }
      return {
        subject: { id: made.id, sessionId: made.credentialId },
        async perform() {
          await grant(host, made, { headers })
          return grant(host, made, { headers })
        },
      }
    },
  },
  {
    of: 'exchangeClientCredentials',
    name: 'an active credential, in a form',
    outcome: '200',
    options,
    surfaces,
    tells: ({ id, sessionId: credentialId }) => [
      told('serviceToken.issued', 'success', { userId: id, credentialId }),
    ],
    prepare: async (scene) => {
      const { host, made } = await withAccount(scene)
      const { clientId, clientSecret } = made
      const asked = { grant_type: 'client_credentials', client_id: clientId }
      const body = new URLSearchParams({ ...asked, client_secret: clientSecret }).toString()
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return {
        subject: { id: made.id, sessionId: made.credentialId },
        perform: () => host.send('POST', '/v1/auth/oauth2/token', { body, headers }),
      }
    },
  },
  refusedGrant('a wrong secret', 'wrong_secret', 'failure', async () => ({
    clientSecret: 'sas_wrong',
  })),
  refusedGrant('a client id nobody has', 'unknown_client', null, async () => ({
    clientId: `sa_${'x'.repeat(22)}`,
  })),
  refusedGrant(
    'a revoked credential',
    'credential_revoked',
    'failure',
    async ({ scene: { host }, who, made }) => {
      await revoke(host, who, made.id, made.credentialId)
      return {}
    },
  ),
  refusedGrant(
    'a disabled account',
    'account_disabled',
    'failure',
    async ({ scene: { host }, made }) => {
      await host.auth.operator.users.update(made.id, { enabled: false })
      return {}
    },
  ),
  refusedGrant(
    'an account that is no service account',
    'not_a_service_account',
    'failure',
    async ({ scene: { host }, made }) => {
      await storedIn(host, 'operator').users.update(made.id, { kind: 'service' }, { kind: '' })
      return {}
    },
  ),
]

/**
 * What operators do to service accounts, and these themselves. The subject's session stands for who
 * did it, and for the credential.
 */
export const serviceAccountScenarios: readonly Scenario[] = [
  ...grants,
  {
    of: 'createServiceAccount',
    name: 'with its first credential',
    outcome: '201',
    options,
    surfaces,
    tells: ({ id, sessionId: actorId }) => [
      told('account.created', 'success', { actorId, targetId: id }),
      told('serviceCredential.issued', 'success', { actorId, targetId: id }),
    ],
    prepare: async ({ host }) => {
      const who = await administrator(host)
      const subject = { id: '', sessionId: who.id }
      return {
        subject,
        async perform() {
          const body = { name: 'Ada' }
          const reply = await host.send('POST', accountsPath, { bearer: who.bearer, body })
          subject.id = String(reply.json()['id'])
          return reply
        },
      }
    },
  },
  {
    of: 'updateServiceAccount',
    name: 'with what was before and after',
    outcome: '200',
    options,
    surfaces,
    tells: ({ id, sessionId: actorId }) => [
      told('account.updated', 'success', {
        actorId,
        targetId: id,
        fields: ['name', 'enabled'],
        before: { enabled: true },
        after: { enabled: false },
      }),
    ],
    prepare: async (scene) => {
      const { host, who, made } = await withAccount(scene)
      const body = { name: 'Grace', enabled: false }
      const path = `${accountsPath}/${made.id}`
      return {
        subject: { id: made.id, sessionId: who.id },
        perform: () => host.send('PATCH', path, { bearer: who.bearer, body }),
      }
    },
  },
  {
    of: 'issueServiceCredential',
    name: 'a second one',
    outcome: '201',
    options,
    surfaces,
    tells: ({ id, sessionId: actorId }) => [
      told('serviceCredential.issued', 'success', { actorId, targetId: id }),
    ],
    prepare: async (scene) => {
      const { host, who, made } = await withAccount(scene)
      return {
        subject: { id: made.id, sessionId: who.id },
        perform: () => rotate(host, who, made.id),
      }
    },
  },
  {
    of: 'issueServiceCredential',
    name: 'a third one',
    outcome: '409 credential_limit_reached',
    options,
    surfaces,
    tells: ({ id, sessionId: actorId }) => [
      told('serviceCredential.issueFailed', 'failure', {
        actorId,
        targetId: id,
        reason: 'credential_limit_reached',
      }),
    ],
    prepare: async (scene) => {
      const { host, who, made } = await withAccount(scene)
      await rotate(host, who, made.id)
      return {
        subject: { id: made.id, sessionId: who.id },
        perform: () => rotate(host, who, made.id),
      }
    },
  },
  {
    of: 'revokeServiceCredential',
    name: 'one that is active',
    outcome: '204',
    options,
    surfaces,
    tells: ({ id, sessionId: actorId }) => [
      told('serviceCredential.revoked', 'success', { actorId, targetId: id }),
    ],
    prepare: async (scene) => {
      const { host, who, made } = await withAccount(scene)
      return {
        subject: { id: made.id, sessionId: who.id },
        perform: () => revoke(host, who, made.id, made.credentialId),
      }
    },
  },
  {
    of: 'revokeServiceCredential',
    name: 'one that is revoked',
    outcome: '404 credential_not_found',
    options,
    surfaces,
    tells: ({ id, sessionId: actorId }) => [
      told('serviceCredential.revokeFailed', 'failure', {
        actorId,
        targetId: id,
        reason: 'credential_not_found',
      }),
    ],
    prepare: async (scene) => {
      const { host, who, made } = await withAccount(scene)
      await revoke(host, who, made.id, made.credentialId)
      return {
        subject: { id: made.id, sessionId: who.id },
        perform: () => revoke(host, who, made.id, made.credentialId),
      }
    },
  },
]
