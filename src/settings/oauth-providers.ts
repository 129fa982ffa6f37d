import { longestUrl } from '../engine/addresses.js'
import { FieldSelect, FieldString } from '../engine/configuration/config-declaration.js'
import { readChoice } from '../engine/configuration/stored-value.js'
import { redirectProblem } from './address-rules.js'
import {
  type FirstValues,
  type InitialElement,
  type RecordList,
  type Setting,
  type Settings,
  settingsIn,
} from './setting.js'

const surfaces = ['operator', 'client'] as const
const flows = ['web', 'mobile'] as const

/** An address an OAuth flow may send the browser or the app back to. */
export interface InitialRedirectTarget extends InitialElement {
  /** Compared character by character. */
  readonly uri: string
  readonly surface: (typeof surfaces)[number]
  readonly flow: (typeof flows)[number]
  /** The app's id, required for `mobile`; read as empty for `web`. */
  readonly appId?: string
}

export type RedirectTarget = Required<InitialRedirectTarget>

const redirectTargets: RecordList<RedirectTarget> = {
  items: [
    { key: 'uri', label: 'URI', type: FieldString, required: true, max: longestUrl },
    { key: 'surface', label: 'Surface', type: FieldSelect, required: true, options: surfaces },
    { key: 'flow', label: 'Flow', type: FieldSelect, required: true, options: flows },
    {
      key: 'appId',
      label: 'App ID',
      type: FieldString,
      required: true,
      condition: { field: 'flow', equals: 'mobile' },
      max: 255,
    },
  ],
  item: 'uri',
  code: 'auth.redirect_invalid',
  problem: (text, element, given) => redirectProblem(text, element['flow'] ?? '', given),

  // A damaged entry is left out: nothing is sent back there.
  read(element, warn) {
    const { slug, label } = element
    const uri = element['uri'] ?? ''
    const surface = readChoice(surfaces, element['surface'] ?? '')?.value
    const flow = readChoice(flows, element['flow'] ?? '')?.value
    const appId = flow === 'mobile' ? (element['appId'] ?? '') : ''
    const isApp = flow === 'mobile'
    if (uri === '' || surface === undefined || flow === undefined || (isApp && appId === '')) {
      warn('it is left out')
      return []
    }
    return [{ slug, label, uri, surface, flow, appId }]
  },
}

const group = 'OAuth Providers'

export const providerIds = ['google', 'microsoft', 'apple', 'github'] as const

type Provider = (typeof providerIds)[number]

/** What the host is registered with at the providers. */
interface CredentialSettings {
  readonly googleClientId: string
  readonly googleClientSecret: string
  readonly microsoftClientId: string
  readonly microsoftClientSecret: string
  /** `common`, `organizations`, `consumers` or a tenant's GUID. Empty = damaged: it admits no tenant. */
  readonly microsoftTenant: string
  readonly appleServicesId: string
  readonly appleTeamId: string
  readonly appleKeyId: string
  /** PEM (PKCS #8). */
  readonly applePrivateKey: string
  readonly githubClientId: string
  readonly githubClientSecret: string
}

/** Whether people of a surface may sign in with a provider. */
type SwitchSettings = Readonly<Record<`${Provider}${'Operator' | 'Client'}Enabled`, boolean>>

export interface OauthProviderSettings extends SwitchSettings, CredentialSettings {
  readonly oauthRedirectTargets: readonly RedirectTarget[]
}

export interface InitialOauthProviders
  extends FirstValues<Omit<OauthProviderSettings, 'oauthRedirectTargets'>> {
  readonly oauthRedirectTargets?: readonly InitialRedirectTarget[]
}

interface ProviderSettings {
  /** For messages. */
  readonly name: string
  /** The settings that make up what the provider knows this host by. */
  readonly credentials: {
    readonly clientId: keyof CredentialSettings
    readonly tenant?: keyof CredentialSettings
    readonly teamId?: keyof CredentialSettings
    readonly keyId?: keyof CredentialSettings
    readonly clientSecret: keyof CredentialSettings
  }
}

export const providerSettings: Readonly<Record<Provider, ProviderSettings>> = {
  google: {
    name: 'Google',
    credentials: { clientId: 'googleClientId', clientSecret: 'googleClientSecret' },
  },
  microsoft: {
    name: 'Microsoft',
    credentials: {
      clientId: 'microsoftClientId',
      tenant: 'microsoftTenant',
      clientSecret: 'microsoftClientSecret',
    },
  },
  apple: {
    name: 'Apple',
    credentials: {
      clientId: 'appleServicesId',
      teamId: 'appleTeamId',
      keyId: 'appleKeyId',
      clientSecret: 'applePrivateKey',
    },
  },
  github: {
    name: 'GitHub',
    credentials: { clientId: 'githubClientId', clientSecret: 'githubClientSecret' },
  },
}

const google = settingsIn(group, 'google')
const microsoft = settingsIn(group, 'microsoft')
const apple = settingsIn(group, 'apple')
const github = settingsIn(group, 'github')

export const oauthProviders: Settings<OauthProviderSettings> = {
  oauthRedirectTargets: settingsIn(group).list(
    { label: 'Allowed redirect targets', max: 50 },
    redirectTargets,
  ),

  googleOperatorEnabled: google.bool(onOperator('Google')),
  googleClientEnabled: google.bool(onClient('Google')),
  googleClientId: google.text(credential('Google client ID', 'GOOGLE_CLIENT_ID')),
  googleClientSecret: google.secret(credential('Google client secret', 'GOOGLE_CLIENT_SECRET')),

  microsoftOperatorEnabled: microsoft.bool(onOperator('Microsoft')),
  microsoftClientEnabled: microsoft.bool(onClient('Microsoft')),
  microsoftClientId: microsoft.text(credential('Microsoft application ID', 'MICROSOFT_CLIENT_ID')),
  microsoftClientSecret: microsoft.secret(
    credential('Microsoft client secret', 'MICROSOFT_CLIENT_SECRET'),
  ),
  microsoftTenant: tenant(),

  appleOperatorEnabled: apple.bool(onOperator('Apple')),
  appleClientEnabled: apple.bool(onClient('Apple')),
  appleServicesId: apple.text(credential('Apple Services ID', 'APPLE_SERVICES_ID')),
  appleTeamId: apple.text({ ...credential('Apple Team ID', 'APPLE_TEAM_ID'), min: 10, max: 10 }),
  appleKeyId: apple.text({ ...credential('Apple Key ID', 'APPLE_KEY_ID'), min: 10, max: 10 }),
  applePrivateKey: privateKey(),

  githubOperatorEnabled: github.bool(onOperator('GitHub')),
  githubClientEnabled: github.bool(onClient('GitHub')),
  githubClientId: github.text(credential('GitHub client ID', 'GITHUB_CLIENT_ID')),
  githubClientSecret: github.secret(credential('GitHub client secret', 'GITHUB_CLIENT_SECRET')),
}

function onOperator(name: string) {
  return { label: `${name} on operator`, default: 'false', surface: 'operator' } as const
}

function onClient(name: string) {
  return { label: `${name} on client`, default: 'false', surface: 'client' } as const
}

function credential(label: string, envVar: string) {
  return { label, max: 255, envVar }
}

function tenant(): Setting<string> {
  const usual = 'common'
  const variable = 'MICROSOFT_TENANT_ID'
  const pattern =
    /^(common|organizations|consumers|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i
  return {
    ...microsoft.text({ ...credential('Microsoft tenant', variable), default: usual }),
    form: "must be 'common', 'organizations', 'consumers' or a tenant's GUID",
    accepts: (text) => pattern.test(text),
    // The default admits every tenant; a damaged value must not, nor a variable that could not be stored.
    read(key, { values, env, warn }) {
      const stored = values[key]
      if (stored !== undefined && pattern.test(stored)) return stored
      const damaged = stored ?? env[variable] ?? ''
      if (damaged === '' || pattern.test(damaged)) return usual
      const source = stored === undefined ? `Environment variable ${variable}` : `Setting "${key}"`
      warn(`${source} is out of range; using no value.`)
      return ''
    },
  }
}

function privateKey(): Setting<string> {
  const pattern = /^-----BEGIN PRIVATE KEY-----\s[A-Za-z0-9+/=\s]+-----END PRIVATE KEY-----\s*$/
  const given = { ...credential('Apple private key (.p8)', 'APPLE_PRIVATE_KEY'), max: 2048 }
  const plain = apple.secret(given)
  return {
    ...plain,
    form: 'must be the text of the .p8 file Apple gave you (PEM, at most 2,048 characters)',
    accepts: (text) => pattern.test(text) && plain.accepts(text),
    hasLines: true,
  }
}
