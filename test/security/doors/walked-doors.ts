import { isDeepStrictEqual } from 'node:util'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import { operations } from '../../../src/operations/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import { memberOf, oauthOptions } from '../../contract/oauth/oauth-host.js'
import type { Flow } from '../../flows/flow.js'
import type { ContractHost, HostKind } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { person } from '../../support/people/people.js'

/** When the clock of every host in these tests begins. */
const { stub, settings } = await oauthOptions(() => Date.UTC(2026, 0, 1))

/** All that a door could lack is there, and every switch is on. */
const everythingOn = {
  ...withoutLimits.settings,
  ...settings,
  registrationOperatorEnabled: true,
  registrationClientEnabled: true,
  emailVerificationRequired: false,
  webauthnMode: 'passwordless',
  trustedDeviceOperatorEnabled: true,
  trustedDeviceClientEnabled: true,
  accountDeletionMode: 'both',
} as const

type Texts = Readonly<Record<string, string>>

/** A door on one host, to be walked through again and again. */
export interface WalkedDoor {
  /** Leads up to the door with everything on, throws a switch, and takes the last step; what it comes to. */
  verdict(surface: Surface, texts: Texts): Promise<string>
}

/** The tokens of the stand-in's providers are of the host's first minutes. */
const mostWalks = 4

export function walkedDoor(flow: Flow, kind: HostKind): WalkedDoor {
  const { settings: wanted, ...options } = flow.options ?? {}
  const isShortLived = options.fetcher !== undefined
  let walks = 0
  let current: Promise<Opened> | null = null

  async function open(): Promise<Opened> {
    const all = { ...everythingOn, ...wanted, webauthnMode: 'passwordless' } as const
    const given = { ...withoutLimits, fetcher: stub, ...options, settings: all }
    const host = await openHost(given, kind)
    await host.auth.migrate()
    return { host, usual: await storedTexts(host) }
  }

  return {
    async verdict(surface, texts) {
      if (isShortLived && walks % mostWalks === 0) current = null
      walks += 1
      current ??= open()
      const { host, usual } = await current
      await store(host, usual)
      const walk = { host, surface, who: await person(host, surface), enrolled: null }
      const { step } = await flow.prepare(walk)
      await store(host, { ...(await storedTexts(host)), ...texts })
      return verdictOf(await step())
    },
  }
}

interface Opened {
  readonly host: ContractHost
  readonly usual: Texts
}

/** A flow of which the operation may have more surfaces than the door. */
export interface Door extends Flow {
  readonly surfaces?: readonly Surface[]
}

export function surfacesOf({ of, surfaces }: Door): readonly Surface[] {
  return surfaces ?? operations.find(({ id }) => id === of)?.surfaces ?? []
}

async function storedTexts(host: ContractHost): Promise<Texts> {
  const { environments } = moduleCollectionsOf(host.backend.store, '')
  return (await environments.get('auth/production'))?.values ?? {}
}

/** In force once the clock has moved. */
async function store(host: ContractHost, values: Texts): Promise<void> {
  const { environments } = moduleCollectionsOf(host.backend.store, '')
  const { revision = 0, values: seen = {} } = (await environments.get('auth/production')) ?? {}
  if (isDeepStrictEqual(seen, values)) return
  await environments.update('auth/production', { revision }, { values, revision: revision + 1 })
  await host.clock.advance(30_000)
}

/** The status; with the code of a refusal, the error of a redirect, or what a login still lacks. */
function verdictOf(reply: Reply): string {
  const status = String(reply.status)
  if ([302, 303].includes(reply.status)) {
    const isSignedIn = reply.setCookies.some((cookie) => /_refresh=[^;]/.test(cookie))
    return `${status} ${isSignedIn ? 'signed in' : memberOf(reply, 'error')}`.trim()
  }
  if (!reply.text.startsWith('{')) return status
  const body = reply.json()
  const said = body['code'] ?? (reply.status === 200 ? body['status'] : undefined)
  return typeof said === 'string' ? `${status} ${said}` : status
}
