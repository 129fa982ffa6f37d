import assert from 'node:assert/strict'
import {
  type ContractHost,
  type HostKind,
  type HostOptions,
  memoryHost,
} from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { rangeService } from '../../support/outside/range-service.js'
import { type WebhookEndpoints, webhookEndpoints } from '../../support/outside/webhook-endpoint.js'
import { type Person, person, signIn } from '../../support/people/people.js'

export const webhookUrl = 'https://siem.example/in'
export const webhookSecret = 'planted-whsec-5c1f-of-32-characters-or-more'
export const breachedPassword = 'vm2#pLw8zRd4^hN6 out in the open'

/** The texts to set, and the elements to create or to remove. */
export interface Change {
  readonly config?: Readonly<Record<string, string>>
  readonly recordLists?: readonly {
    readonly field: string
    readonly create: readonly string[]
    readonly remove: readonly string[]
  }[]
}

export interface SettingsHost extends ContractHost {
  /** The webhook that may be set: `webhookUrl`, with `webhookSecret`. */
  readonly endpoints: WebhookEndpoints
  /** Changes the settings of the active environment over HTTP, as an operator who may; the reply. */
  patch(change: Change, environment?: string): Promise<Reply>
  /** As `patch`; fails unless it was done. */
  set(change: Change): Promise<void>
  /** `GET` below `/v1/admin/modules/auth`. */
  get(path: string): Promise<Reply>
  /** Makes an environment the active one. */
  activate(environment: string): Promise<Reply>
}

/** Less than the shortest life an access token can be given. */
const tokenLifeMs = 50_000

/** A host whose settings one operator may change. */
export async function settingsHost(
  options: HostOptions = {},
  kind: HostKind = memoryHost,
): Promise<SettingsHost> {
  const { settings = {}, ...others } = options
  let administrator: Person | null = null
  const endpoints = webhookEndpoints({ [webhookUrl]: webhookSecret })
  const ranges = rangeService([breachedPassword])
  const host = await openHost(
    {
      ...withoutLimits,
      settings: { ...withoutLimits.settings, ...settings },
      authorizer: {
        check: async ({ permission, userId }) =>
          !permission.startsWith('system.') || userId === administrator?.id,
      },
      fetcher: {
        fetch: (request) => (request.method === 'POST' ? endpoints : ranges).fetch(request),
      },
      ...others,
    },
    kind,
  )
  let bearer = ''
  let since = Number.NEGATIVE_INFINITY

  async function send(method: string, path: string, body?: unknown): Promise<Reply> {
    if (host.clock.now() - since >= tokenLifeMs) {
      // Somebody new each time: no age of a password and no number of sessions stands in the way.
      administrator = await person(host, 'operator')
      bearer = (await signIn(host, 'operator', administrator)).bearer
      since = host.clock.now()
    }
    const given = { bearer, ...(body === undefined ? {} : { body }) }
    return host.send(method, `/v1/admin/modules/auth${path}`, given)
  }

  /** A removal states the revision it saw. */
  async function patch(change: Change, environment = 'production'): Promise<Reply> {
    const path = `/environments/${environment}`
    const removes = change.recordLists?.some(({ remove }) => remove.length > 0) ?? false
    const seen = removes ? (await send('GET', path)).json()['revision'] : undefined
    return send('PATCH', path, { ...change, ...(seen === undefined ? {} : { revision: seen }) })
  }

  return {
    ...host,
    endpoints,
    patch,
    async set(change) {
      const reply = await patch(change)
      assert.equal(reply.status, 200, reply.text)
    },
    get: (path) => send('GET', path),
    activate: (environment) => send('PUT', '/active-environment', { environment }),
  }
}
