import assert from 'node:assert/strict'
import { onTestFinished } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { ProviderId } from '../../../src/identity-providers/providers.js'
import { systemFetcher } from '../../../src/system/system-fetcher.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { surfaces } from '../../support/hosts/open-host.js'
import type { TestOptions } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import {
  allEnabled,
  appleKeys,
  registeredSettings,
} from '../../support/outside/provider-stub/credentials.js'
import { openStandIn } from '../../support/outside/providers/open-stand-in.js'
import { paperBrowser } from '../../support/outside/providers/paper-browser.js'
import type { StandIn } from '../../support/outside/providers/stand-in.js'
import { browserHost } from '../http/browser-host.js'
import { ledger } from './ledger.js'
import { type OauthSteps, oauthSteps, targets } from './oauth-host.js'

/** A host and providers that it reaches over the network, and where people really sign in. */
export interface RealOauthHost extends ContractHost, OauthSteps {
  /** Fails for one that was not opened. */
  provider(id: ProviderId): StandIn
  /** Somebody gets an account there, in place of the one with the same subject. */
  join(id: ProviderId, account: Account): void
  /** The person signs in and agrees; what their browser would bring to the callback. */
  agree(authorizationUrl: string, account: Account): Promise<Record<string, string>>
  /** The collections that hold accounts and sessions by now, once for each document, sorted. */
  made(): readonly string[]
  /** As `agree`, of somebody who says no. */
  cancel(authorizationUrl: string): Promise<Record<string, string>>
}

interface Options extends TestOptions {
  readonly secure?: boolean
  /** Milliseconds for an exchange with a provider; those of the library by default. */
  readonly patience?: number
}

/** Open on both surfaces to everybody with an account at one of `ids`. Closed with the test. */
export async function realOauthHost(
  ids: readonly ProviderId[],
  { secure = false, patience, ...options }: Options = {},
): Promise<RealOauthHost> {
  const { privatePem, publicKey } = await appleKeys()
  const accounts = new Map(ids.map((id): [ProviderId, Account[]] => [id, []]))
  const standIns: StandIn[] = []
  const documents = ledger()

  async function optionsAt(url: string): Promise<TestOptions> {
    for (const id of ids) {
      const redirectUris = surfaces.map((s) => `${url}/v1/auth/${s}/oauth/${id}/callback`)
      const known = accounts.get(id) ?? []
      const standIn = await openStandIn(id, { redirectUris, accounts: known, publicKey })
      onTestFinished(() => standIn.close())
      standIns.push(standIn)
    }
    const own = surfaces.map((surface) => {
      const uri = `https://localhost:${new URL(url).port}/signed-in`
      return { slug: `${surface}-own`, uri, surface, flow: 'web' as const }
    })
    const { rateLimits } = withoutLimits.surfaces.client
    const surface = { baseUrl: url, rateLimits }
    return {
      surfaces: { operator: surface, client: surface },
      // The default one, over a network, and as patient as the test is.
      fetcher: {
        fetch: (request) =>
          systemFetcher.fetch({ ...request, timeoutMs: patience ?? request.timeoutMs }),
      },
      oauth: {
        allowInsecureLoopback: true,
        providers: Object.fromEntries(standIns.map(({ id, endpoints }) => [id, { endpoints }])),
      },
      ...options,
      backend: documents.watched(options.backend ?? memory()),
      settings: {
        ...registeredSettings(privatePem),
        ...allEnabled,
        oauthRedirectTargets: [...targets, ...own],
        ...options.settings,
      },
    }
  }

  const host = await browserHost(optionsAt, { secure })
  const provider = (id: ProviderId): StandIn =>
    standIns.find((one) => one.id === id) ?? assert.fail(`${id} is not open`)

  function join(id: ProviderId, account: Account): void {
    const all = accounts.get(id) ?? []
    const place = all.findIndex(({ subject }) => subject === account.subject)
    all.splice(place < 0 ? all.length : place, 1, account)
  }

  const agree: RealOauthHost['agree'] = async (authorizationUrl, account) => {
    const { id } = standIns.find(({ url }) => authorizationUrl.startsWith(url)) ?? assert.fail()
    join(id, account)
    const callback = `${host.url}/v1/auth/`
    const next = await paperBrowser().signIn(authorizationUrl, account.subject, callback)
    return { ...Object.fromEntries(new URL(next.url).searchParams), ...next.fields }
  }

  return {
    ...host,
    ...oauthSteps(host, { agree }),
    provider,
    made: documents.names,
    join,
    agree,
    async cancel(authorizationUrl) {
      const next = await paperBrowser().cancel(authorizationUrl, `${host.url}/v1/auth/`)
      return { ...Object.fromEntries(new URL(next.url).searchParams), ...next.fields }
    },
  }
}
