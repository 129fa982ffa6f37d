import type { ProviderId } from '../../../src/identity-providers/providers.js'
import type { Surface } from '../../../src/ports/surface.js'
import { storedIn, storedUser } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { enrolled } from '../../support/people/authenticator.js'
import { appVerifier, memberOf, oauthOptions, oauthSteps, waitingOf } from '../oauth/oauth-host.js'
import type { Pathway, Walk } from './pathway.js'
import { ticketCells } from './second-factor-pathways.js'
import { sender } from './sender.js'

/** When the clock of every host here begins. */
const { stub, settings } = await oauthOptions(() => Date.UTC(2026, 0, 1))
const options = { fetcher: stub, settings }

let accounts = 0

/** An account at the provider that is the walker's. */
async function accountOf({ host, surface, who }: Walk, provider: ProviderId): Promise<Account> {
  accounts += 1
  const email = `pathway-${accounts}@example.org`
  const account = { subject: String(5000 + accounts), email, verified: true }
  await oauthSteps(host, stub).signIn(surface, provider, account)
  const { id: userId } = await storedUser(host, surface, email)
  const { oauthIdentities } = storedIn(host, surface)
  const [identity] = await oauthIdentities.find({ userId }, { limit: 1 })
  await oauthIdentities.update(identity?.id ?? '', { userId }, { userId: who.id })
  return account
}

const callbackCells: Pathway['cells'] = {
  nothing: 'tokens',
  'a second factor': 'mfaRequired',
  'a policy that wants a second factor': 'mfaEnrollmentRequired',
  'a disabled account': 'oauth_failed',
  'a service principal': 'oauth_failed',
  'an unverified address': 'email_not_verified',
  // No password is asked for.
  'guesses at the password used up': 'tokens',
  'requests used up': '429 rate_limited',
  'the other surface': '400 invalid_oauth_state',
}

function callback(of: string, provider: ProviderId): Pathway {
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
      const step = ({ at = surface, from }: { readonly at?: Surface; readonly from?: string }) =>
        steps.comeBack(at, provider, brought, cookie, from)
      return { step }
    },
    cells: callbackCells,
  }
}

/** A code behind an answer of a provider, in the browser that went there or in another one. */
function secondStep(name: string, provider: ProviderId, cells: Pathway['cells'], isOwn: boolean) {
  return {
    of: 'completeLoginMfa',
    name,
    options,
    async prepare(walk) {
      const { host, surface } = walk
      const who = walk.enrolled ?? (await enrolled(host, surface))
      const account = await accountOf({ ...walk, who }, provider)
      const steps = oauthSteps(host, stub)
      const { mfaToken, cookie } = waitingOf(await steps.signIn(surface, provider, account))
      const kept = isOwn ? cookie : (await steps.depart(surface, provider)).cookie
      const body = { mfaToken, method: 'totp', code: await who.nextCode() }
      const step = sender(walk, '/login/mfa', body, { cookie: kept })
      return { step, userId: who.id, email: who.email }
    },
    cells,
  } satisfies Pathway
}

const notTheirs = '401 mfa_ticket_invalid'
const strangerCells: Pathway['cells'] = {
  nothing: notTheirs,
  'a second factor': notTheirs,
  'a policy that wants a second factor': notTheirs,
  'a disabled account': notTheirs,
  'a service principal': notTheirs,
  'an unverified address': notTheirs,
  'guesses at the password used up': notTheirs,
  'requests used up': '429 rate_limited',
  'the other surface': notTheirs,
}

export const oauthPathways: readonly Pathway[] = [
  callback('oauthCallback', 'google'),
  callback('oauthCallbackFormPost', 'apple'),
  secondStep('a code of the app after a flow to google', 'google', ticketCells, true),
  secondStep('a code of the app after a flow to apple', 'apple', ticketCells, true),
  secondStep('a code of the app after a flow of another browser', 'google', strangerCells, false),
  {
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
      return { step: sender(walk, '/mobile/oauth/exchange', body) }
    },
    cells: {
      ...callbackCells,
      'a disabled account': '400 invalid_token',
      'a service principal': '401 invalid_credentials',
      'an unverified address': '403 email_not_verified',
      'the other surface': '400 invalid_token',
    },
  },
]
