import {
  FieldBool,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
} from '../engine/configuration/config-declaration.js'
import type { AuthField } from './auth-field.js'
import { oneSurface, redirectFlows } from './choices.js'
import type { SettingKey } from './settings.js'

const group = 'OAuth Providers'

export const oauthProviderFields: readonly AuthField[] = [
  {
    key: 'oauthRedirectTargets',
    label: 'Allowed redirect targets',
    type: FieldRecordList,
    max: 50,
    group,
    surface: 'both',
    items: [
      { key: 'uri', label: 'URI', type: FieldString, required: true, max: 2048 },
      { key: 'surface', label: 'Surface', type: FieldSelect, required: true, options: oneSurface },
      { key: 'flow', label: 'Flow', type: FieldSelect, required: true, options: redirectFlows },
      {
        key: 'appId',
        label: 'App ID',
        type: FieldString,
        required: true,
        condition: { field: 'flow', equals: 'mobile' },
        max: 255,
      },
    ],
  },
  toggle('googleOperatorEnabled', 'Google on operator', 'google', 'operator'),
  toggle('googleClientEnabled', 'Google on client', 'google', 'client'),
  text('googleClientId', 'Google client ID', 'google', 'GOOGLE_CLIENT_ID'),
  secret('googleClientSecret', 'Google client secret', 'google', 'GOOGLE_CLIENT_SECRET', 255),
  toggle('microsoftOperatorEnabled', 'Microsoft on operator', 'microsoft', 'operator'),
  toggle('microsoftClientEnabled', 'Microsoft on client', 'microsoft', 'client'),
  text('microsoftClientId', 'Microsoft application ID', 'microsoft', 'MICROSOFT_CLIENT_ID'),
  secret(
    'microsoftClientSecret',
    'Microsoft client secret',
    'microsoft',
    'MICROSOFT_CLIENT_SECRET',
    255,
  ),
  {
    ...text('microsoftTenant', 'Microsoft tenant', 'microsoft', 'MICROSOFT_TENANT_ID'),
    default: 'common',
  },
  toggle('appleOperatorEnabled', 'Apple on operator', 'apple', 'operator'),
  toggle('appleClientEnabled', 'Apple on client', 'apple', 'client'),
  text('appleServicesId', 'Apple Services ID', 'apple', 'APPLE_SERVICES_ID'),
  { ...text('appleTeamId', 'Apple Team ID', 'apple', 'APPLE_TEAM_ID'), min: 10, max: 10 },
  { ...text('appleKeyId', 'Apple Key ID', 'apple', 'APPLE_KEY_ID'), min: 10, max: 10 },
  secret('applePrivateKey', 'Apple private key (.p8)', 'apple', 'APPLE_PRIVATE_KEY', 2048),
  toggle('githubOperatorEnabled', 'GitHub on operator', 'github', 'operator'),
  toggle('githubClientEnabled', 'GitHub on client', 'github', 'client'),
  text('githubClientId', 'GitHub client ID', 'github', 'GITHUB_CLIENT_ID'),
  secret('githubClientSecret', 'GitHub client secret', 'github', 'GITHUB_CLIENT_SECRET', 255),
]

type Provider = 'google' | 'microsoft' | 'apple' | 'github'

function toggle(
  key: SettingKey,
  label: string,
  child: Provider,
  surface: 'operator' | 'client',
): AuthField {
  return { key, label, type: FieldBool, default: 'false', group, child, surface }
}

function text(key: SettingKey, label: string, child: Provider, envVar: string): AuthField {
  return { key, label, type: FieldString, max: 255, envVar, group, child, surface: 'both' }
}

function secret(
  key: SettingKey,
  label: string,
  child: Provider,
  envVar: string,
  max: number,
): AuthField {
  return {
    key,
    label,
    type: FieldSecret,
    secret: true,
    max,
    envVar,
    group,
    child,
    surface: 'both',
  }
}
