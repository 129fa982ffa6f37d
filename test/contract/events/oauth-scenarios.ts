import type { ProviderId } from '../../../src/identity-providers/providers.js'
import { textOf } from '../../support/hosts/http-client.js'
import { storedUser } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { signedInPerson } from '../../support/people/people.js'
import {
  appChallenge,
  appTarget,
  flowCookieOf,
  memberOf,
  oauthOptions,
  oauthSteps,
  webTarget,
} from '../oauth/oauth-host.js'
import { type Scenario, type Scene, told } from './event-scenario.js'

/** When the clock of every host here begins. */
const { stub, settings } = await oauthOptions(() => Date.UTC(2026, 0, 1))
const options = { settings, fetcher: stub, authorizer: { check: async () => true } }
const operator = ['operator'] as const

let accounts = 0

/** Somebody at a provider whom nobody met before. */
function stranger(): Account {
  accounts += 1
  const email = `scenario-${accounts}@example.org`
  return { subject: String(100 + accounts), email, verified: true }
}

/** Somebody who signed in by a provider before. */
async function known(scene: Scene, provider: 'google' | 'apple' = 'google') {
  const account = stranger()
  const steps = oauthSteps(scene.host, stub)
  await steps.signIn(scene.surface, provider, account)
  const { id } = await storedUser(scene.host, scene.surface, account.email ?? '')
  return { account, subject: { id } }
}

/** A flow with this account, up to the callback. */
async function onTheWayBack(
  { host, surface }: Scene,
  provider: ProviderId,
  account: Account,
  parameters: Readonly<Record<string, string>> = {},
) {
  const steps = oauthSteps(host, stub)
  const { authorizationUrl, cookie } = await steps.depart(surface, provider)
  const brought = { ...stub.agree(authorizationUrl, account), ...parameters }
  return () => steps.comeBack(surface, provider, brought, cookie)
}

async function linkStarted({ host, surface, post }: Scene, account: Account) {
  const who = await signedInPerson(host, surface)
  const body = { redirectUri: webTarget[surface], currentPassword: who.password }
  const reply = await post('/oauth/google/link', { bearer: who.bearer, body })
  const brought = stub.agree(textOf(reply.json(), 'authorizationUrl'), account)
  const cookie = flowCookieOf(reply)
  const comeBack = () => oauthSteps(host, stub).comeBack(surface, 'google', brought, cookie)
  return { who, comeBack }
}

const failed = (method: string, reason: string) =>
  told('login.failed', null, { userId: null, method, reason })

/** Every way a flow to a provider can go. */
export const oauthScenarios: readonly Scenario[] = [
  {
    of: 'oauthCallback',
    name: 'somebody new',
    outcome: '302',
    options,
    tells: () => [
      told('account.registered', 'success'),
      told('login.succeeded', 'success', { method: 'github' }),
    ],
    prepare: async (scene) => ({ perform: await onTheWayBack(scene, 'github', stranger()) }),
  },
  {
    of: 'oauthCallbackFormPost',
    name: 'somebody known',
    outcome: '302',
    options,
    tells: ({ id }) => [
      told('login.succeeded', 'success', {
        userId: id,
        method: 'apple',
        mfaMethod: null,
        amr: [],
      }),
    ],
    prepare: async (scene) => {
      const { account, subject } = await known(scene, 'apple')
      return { subject, perform: await onTheWayBack(scene, 'apple', account) }
    },
  },
  {
    of: 'oauthCallback',
    name: 'somebody who said no',
    outcome: '303',
    options,
    tells: () => [failed('google', 'oauth_denied')],
    prepare: async (scene) => ({
      perform: await onTheWayBack(scene, 'google', stranger(), {
        error: 'access_denied',
        code: '',
      }),
    }),
  },
  {
    of: 'oauthCallback',
    name: 'an address that has an account',
    outcome: '303',
    options,
    tells: () => [failed('google', 'account_exists_link_required')],
    prepare: async (scene) => {
      const { email } = await signedInPerson(scene.host, scene.surface)
      const account = { ...stranger(), email }
      return { perform: await onTheWayBack(scene, 'google', account) }
    },
  },
  {
    of: 'oauthCallback',
    name: 'a flow that is over',
    outcome: '400 invalid_oauth_state',
    options,
    tells: () => [
      told('request.refused', null, { operation: 'oauthCallback', reason: 'invalid_oauth_state' }),
    ],
    prepare: async (scene) => {
      const comeBack = await onTheWayBack(scene, 'google', stranger())
      await comeBack()
      return { perform: comeBack }
    },
  },
  {
    of: 'startMobileOauth',
    name: 'an app’s flow',
    outcome: '200',
    options,
    tells: () => [],
    prepare: async ({ surface, post }) => {
      const body = {
        redirectUri: appTarget[surface],
        codeChallenge: appChallenge,
        codeChallengeMethod: 'S256',
      }
      return { perform: () => post('/mobile/oauth/google/start', { body }) }
    },
  },
  {
    of: 'exchangeMobileOauth',
    name: 'the code of an app’s flow',
    outcome: '200',
    options,
    tells: ({ id }) => [told('login.succeeded', 'success', { userId: id, method: 'google' })],
    prepare: async (scene) => {
      const { host, surface } = scene
      const { account, subject } = await known(scene)
      const steps = oauthSteps(host, stub)
      const url = await steps.departFromApp(surface, 'google')
      const back = await steps.comeBack(surface, 'google', stub.agree(url, account))
      const code = memberOf(back, 'code')
      return { subject, perform: () => steps.exchange(surface, code) }
    },
  },
  {
    of: 'exchangeMobileOauth',
    name: 'a code that is none',
    outcome: '400 invalid_token',
    options,
    tells: () => [
      told('request.refused', 'failure', {
        operation: 'exchangeMobileOauth',
        reason: 'invalid_token',
      }),
    ],
    prepare: async ({ host, surface }) => ({
      perform: () => oauthSteps(host, stub).exchange(surface, 'made up'),
    }),
  },
  {
    of: 'startOauthLink',
    name: 'with the current password',
    outcome: '200',
    options,
    surfaces: operator,
    tells: () => [],
    prepare: async ({ host, surface, post }) => {
      const who = await signedInPerson(host, surface)
      const body = { redirectUri: webTarget[surface], currentPassword: who.password }
      return { perform: () => post('/oauth/google/link', { bearer: who.bearer, body }) }
    },
  },
  {
    of: 'oauthCallback',
    name: 'an account that is linked',
    outcome: '302',
    options,
    surfaces: operator,
    tells: ({ id }) => [
      told('identity.linked', 'success', { actorId: id, targetId: id, provider: 'google' }),
    ],
    prepare: async (scene) => {
      const { who, comeBack } = await linkStarted(scene, stranger())
      return { subject: who, perform: comeBack }
    },
  },
  {
    of: 'unlinkOauth',
    name: 'with the current password',
    outcome: '204',
    options,
    surfaces: operator,
    tells: ({ id }) => [
      told('identity.unlinked', 'success', { actorId: id, targetId: id, provider: 'google' }),
    ],
    prepare: async (scene) => {
      const { who, comeBack } = await linkStarted(scene, stranger())
      await comeBack()
      const body = { currentPassword: who.password }
      const path = '/v1/auth/operator/oauth/google/link'
      const perform = () => scene.host.send('DELETE', path, { bearer: who.bearer, body })
      return { subject: who, perform }
    },
  },
  {
    of: 'unlinkUserOauth',
    name: 'by an administrator',
    outcome: '204',
    options,
    surfaces: operator,
    tells: ({ id, sessionId: actorId }) => [
      told('identity.unlinked', 'success', { actorId, targetId: id, provider: 'google' }),
    ],
    prepare: async (scene) => {
      const { who, comeBack } = await linkStarted(scene, stranger())
      await comeBack()
      const administrator = await signedInPerson(scene.host, scene.surface)
      const path = `/v1/auth/operator/users/${who.id}/oauth/google`
      return {
        // There is no session in it; the second id is the administrator's.
        subject: { id: who.id, sessionId: administrator.id },
        perform: () => scene.host.send('DELETE', path, { bearer: administrator.bearer }),
      }
    },
  },
]
