import type { ProviderId } from '../../src/identity-providers/providers.js'
import {
  appChallenge,
  appTarget,
  appVerifier,
  memberOf,
  oauthOptions,
  oauthSteps,
  waitingOf,
  webTarget,
} from '../contract/oauth/oauth-host.js'
import { storedIn, storedUser } from '../support/hosts/open-host.js'
import type { Account } from '../support/outside/provider-stub/account.js'
import { signedInPerson } from '../support/people/people.js'
import { type Flow, post, request, sessionOf, type Walk } from './flow.js'
import { holderOf } from './second-factor-flows.js'

/** When the clock of every host in these tests begins. */
const { stub, settings } = await oauthOptions(() => Date.UTC(2026, 0, 1))
const options = { fetcher: stub, settings }
const administered = { ...options, authorizer: { check: async () => true } }

let accounts = 0

/** An account at the provider that is the walker's. */
async function accountOf({ host, surface, who }: Walk, provider: ProviderId): Promise<Account> {
  accounts += 1
  const email = `provider-${accounts}@example.org`
  const account = { subject: String(5000 + accounts), email, verified: true }
  await oauthSteps(host, stub).signIn(surface, provider, account)
  const { id: userId } = await storedUser(host, surface, email)
  const { oauthIdentities } = storedIn(host, surface)
  const [identity] = await oauthIdentities.find({ userId }, { limit: 1 })
  await oauthIdentities.update(identity?.id ?? '', { userId }, { userId: who.id })
  return account
}

export function callback(of: string, provider: ProviderId): Flow {
  return {
    of,
    name: `an answer of ${provider} in a browser`,
    options,
    async prepare(walk) {
      const { host, surface } = walk
      const account = await accountOf(walk, provider)
      const steps = oauthSteps(host, stub)
      const { authorizationUrl, cookie } = await steps.depart(surface, provider)
      const brought = stub.agree(authorizationUrl, account)
      return {
        step: ({ at = surface, from } = {}) => steps.comeBack(at, provider, brought, cookie, from),
      }
    },
  }
}

export const googleCallback = callback('oauthCallback', 'google')
export const appleCallback = callback('oauthCallbackFormPost', 'apple')

/** A code behind an answer of a provider, in the browser that went there or, refused, in another. */
export function codeAfterProvider(name: string, provider: ProviderId, isOwn = true): Flow {
  return {
    of: 'completeLoginMfa',
    name,
    options,
    async prepare(walk) {
      const { host, surface } = walk
      const who = await holderOf(walk)
      const account = await accountOf({ ...walk, who }, provider)
      const steps = oauthSteps(host, stub)
      const { mfaToken, cookie } = waitingOf(await steps.signIn(surface, provider, account))
      const kept = isOwn ? cookie : (await steps.depart(surface, provider)).cookie
      const body = { mfaToken, method: 'totp', code: await who.nextCode() }
      const step = post(walk, '/login/mfa', body, { cookie: kept })
      return { step, userId: who.id, email: who.email }
    },
  }
}

export const codeAfterGoogle = codeAfterProvider(
  'a code of the authenticator app after a flow to google',
  'google',
)
export const codeAfterApple = codeAfterProvider(
  'a code of the authenticator app after a flow to apple',
  'apple',
)

export const appCode: Flow = {
  of: 'exchangeMobileOauth',
  name: 'the code of an app that went to a provider',
  options,
  async prepare(walk) {
    const { host, surface } = walk
    const account = await accountOf(walk, 'github')
    const steps = oauthSteps(host, stub)
    const url = await steps.departFromApp(surface, 'github')
    const back = await steps.comeBack(surface, 'github', stub.agree(url, account))
    const body = { code: memberOf(back, 'code'), codeVerifier: appVerifier }
    return { step: post(walk, '/mobile/oauth/exchange', body) }
  },
}

const started = (of: string, name: string, method: string, path: string, body?: object): Flow => ({
  of,
  name,
  options,
  prepare: async (walk) => ({
    step: request(walk, method, path, body === undefined ? {} : { body }),
  }),
})

/** The walker with a linked account, signed in. */
async function linked(walk: Walk) {
  const who = await sessionOf(walk)
  await accountOf(walk, 'google')
  return who
}

export const oauthFlows: readonly Flow[] = [
  googleCallback,
  appleCallback,
  codeAfterGoogle,
  codeAfterApple,
  appCode,
  started('listOauthProviders', 'the providers', 'GET', '/oauth/providers'),
  {
    of: 'startOauth',
    name: 'a flow in a browser',
    options,
    prepare: async (walk) => {
      const query = new URLSearchParams({ redirectUri: webTarget[walk.surface] })
      return { step: request(walk, 'GET', `/oauth/google/start?${query}`) }
    },
  },
  {
    of: 'startMobileOauth',
    name: 'a flow of an app',
    options,
    prepare: async (walk) => {
      const codeChallenge = { codeChallenge: appChallenge, codeChallengeMethod: 'S256' }
      const body = { redirectUri: appTarget[walk.surface], ...codeChallenge }
      return { step: post(walk, '/mobile/oauth/google/start', body) }
    },
  },
  {
    of: 'startOauthLink',
    name: 'with the current password',
    options,
    async prepare(walk) {
      const { bearer, password } = await sessionOf(walk)
      const body = { redirectUri: webTarget[walk.surface], currentPassword: password }
      return { step: post(walk, '/oauth/google/link', body, { bearer }) }
    },
  },
  {
    of: 'unlinkOauth',
    name: 'with the current password',
    options,
    async prepare(walk) {
      const { bearer, password } = await linked(walk)
      const body = { currentPassword: password }
      return { step: request(walk, 'DELETE', '/oauth/google/link', { bearer, body }) }
    },
  },
  {
    of: 'unlinkUserOauth',
    name: 'by an administrator',
    options: administered,
    async prepare(walk) {
      const { id: userId, email } = await linked(walk)
      const { bearer } = await signedInPerson(walk.host, 'operator')
      const step = request(walk, 'DELETE', `/users/${userId}/oauth/google`, { bearer })
      return { step, userId, email }
    },
  },
]
