import { exportPKCS8, generateKeyPair } from 'jose'
import { type ProviderId, providerIds } from '../../../src/identity-providers/providers.js'
import type { Surface } from '../../../src/ports/surface.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { type Account, tenants } from '../../support/outside/provider-stub/account.js'
import { allEnabled, registered } from '../../support/outside/provider-stub/credentials.js'
import { memberOf, oauthOptions, oauthSteps, webTarget } from '../oauth/oauth-host.js'
import { stranger } from './actions.js'
import type { Effect, Effects } from './effect.js'
import type { Change, SettingsHost } from './settings-host.js'

/** When the clock of every host here begins. */
const { stub, settings } = await oauthOptions(() => Date.UTC(2026, 0, 1))
const { applePrivateKey = '', oauthRedirectTargets: _listed, ...others } = settings

const options = { fetcher: stub, settings }

const switchedOff = Object.fromEntries(Object.keys(allEnabled).map((key) => [key, false]))

/** Whether a provider is on the list, and what starting there comes to. */
function toggle(provider: ProviderId): Effect {
  return {
    options: { fetcher: stub, settings: { ...settings, ...switchedOff } },
    when: [
      ['true', 'listed, 302'],
      ['false', 'not listed, 403 oauth_provider_disabled'],
    ],
    async see(host, surface) {
      const reply = await host.send('GET', `/v1/auth/${surface}/oauth/providers`)
      const isListed = reply.text.includes(`"id":"${provider}"`)
      // Of the others nothing changes.
      for (const other of providerIds.filter((id) => id !== provider)) {
        const start = await oauthSteps(host, stub).startWeb(surface, other)
        if (start.status !== 403) return `${other} as well`
      }
      const start = await oauthSteps(host, stub).startWeb(surface, provider)
      return `${isListed ? 'listed' : 'not listed'}, ${outcomeOf(start)}`
    },
  }
}

async function parameterOf(
  host: SettingsHost,
  surface: Surface,
  provider: ProviderId,
  name: string,
): Promise<string> {
  return memberOf(await oauthSteps(host, stub).startWeb(surface, provider), name)
}

function clientId(provider: ProviderId): Effect {
  const { clientId: own } = registered[provider]
  return {
    options,
    when: [
      [own, own],
      ['another-client', 'another-client'],
    ],
    see: (host, surface) => parameterOf(host, surface, provider, 'client_id'),
  }
}

/** `signed in`, or the error the host's page is told. */
async function signIn(host: SettingsHost, surface: Surface, provider: ProviderId) {
  const email = stranger()
  const subject = String(1000 + Number(/\d+/.exec(email)?.[0]))
  const account: Account = { subject, email, verified: true, tenant: tenants.acme }
  const reply = await oauthSteps(host, stub).signIn(surface, provider, account)
  return memberOf(reply, 'error') || 'signed in'
}

/** What the stand-in of the provider knows to be right, and something else. */
function credential(provider: ProviderId, right: string, wrong: string): Effect {
  return {
    options,
    when: [
      [right, 'signed in'],
      [wrong, 'oauth_failed'],
    ],
    see: (host, surface) => signIn(host, surface, provider),
  }
}

const { privateKey } = await generateKeyPair('ES256', { extractable: true })
const strangersKey = await exportPKCS8(privateKey)

const slugs = ['back-operator', 'back-client'] as const
const listed: Change = {
  config: Object.fromEntries(
    (['operator', 'client'] as const).flatMap((surface) => [
      [`oauthRedirectTargets.back-${surface}.uri`, webTarget[surface]],
      [`oauthRedirectTargets.back-${surface}.surface`, surface],
      [`oauthRedirectTargets.back-${surface}.flow`, 'web'],
    ]),
  ),
  recordLists: [{ field: 'oauthRedirectTargets', create: slugs, remove: [] }],
}
const unlisted: Change = {
  recordLists: [{ field: 'oauthRedirectTargets', create: [], remove: slugs }],
}

/** The group OAuth Providers. */
export const oauthEffects: Effects = {
  oauthRedirectTargets: {
    options: { fetcher: stub, settings: { ...others, applePrivateKey } },
    when: [
      [listed, '302, 400 redirect_not_allowed'],
      [unlisted, '400 redirect_not_allowed, 400 redirect_not_allowed'],
    ],
    async see(host, surface) {
      const { startWeb } = oauthSteps(host, stub)
      const exact = await startWeb(surface, 'google')
      const longer = await startWeb(surface, 'google', { redirectUri: `${webTarget[surface]}/` })
      return `${outcomeOf(exact)}, ${outcomeOf(longer)}`
    },
  },
  googleOperatorEnabled: toggle('google'),
  googleClientEnabled: toggle('google'),
  googleClientId: clientId('google'),
  googleClientSecret: credential('google', registered.google.clientSecret, 'not-the-secret'),
  microsoftOperatorEnabled: toggle('microsoft'),
  microsoftClientEnabled: toggle('microsoft'),
  microsoftClientId: clientId('microsoft'),
  microsoftClientSecret: credential(
    'microsoft',
    registered.microsoft.clientSecret,
    'not-the-secret',
  ),
  microsoftTenant: {
    options,
    when: [
      ['organizations', '/organizations/oauth2/v2.0/authorize, signed in'],
      [tenants.acme, `/${tenants.acme}/oauth2/v2.0/authorize, signed in`],
      [tenants.evil, `/${tenants.evil}/oauth2/v2.0/authorize, oauth_failed`],
      ['', '/common/oauth2/v2.0/authorize, signed in'],
    ],
    async see(host, surface) {
      const { authorizationUrl } = await oauthSteps(host, stub).depart(surface, 'microsoft')
      const { pathname } = new URL(authorizationUrl)
      return `${pathname}, ${await signIn(host, surface, 'microsoft')}`
    },
  },
  appleOperatorEnabled: toggle('apple'),
  appleClientEnabled: toggle('apple'),
  appleServicesId: clientId('apple'),
  appleTeamId: credential('apple', registered.apple.teamId, 'OTHERTEAM0'),
  appleKeyId: credential('apple', registered.apple.keyId, 'OTHERKEY00'),
  applePrivateKey: credential('apple', applePrivateKey, strangersKey),
  githubOperatorEnabled: toggle('github'),
  githubClientEnabled: toggle('github'),
  githubClientId: clientId('github'),
  githubClientSecret: credential('github', registered.github.clientSecret, 'not-the-secret'),
}
