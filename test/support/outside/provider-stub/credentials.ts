import { exportPKCS8, generateKeyPair } from 'jose'
import type { InitialSettings } from '../../../../src/settings/settings.js'

/** What the host is registered with at the stand-ins. */
export const registered = {
  google: { clientId: 'google-client.apps.example', clientSecret: 'planted-google-secret-7f' },
  microsoft: {
    clientId: '0aa1bb22-0000-4000-8000-000000000001',
    clientSecret: 'planted-entra-secret-7f',
  },
  apple: { clientId: 'org.example.signin', teamId: 'TEAM012345', keyId: 'KEYID67890' },
  github: { clientId: 'Iv1.0123456789abcdef', clientSecret: 'planted-github-secret-7f' },
} as const

/** Apple's key pair: the private half is a setting, the public one Apple's. */
export async function appleKeys() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  return { privatePem: await exportPKCS8(privateKey), publicKey }
}
/** Settings of a host that is registered with all four, without any of them switched on. */
export function registeredSettings(applePrivateKey: string): InitialSettings {
  const { google, microsoft, apple, github } = registered
  return {
    googleClientId: google.clientId,
    googleClientSecret: google.clientSecret,
    microsoftClientId: microsoft.clientId,
    microsoftClientSecret: microsoft.clientSecret,
    appleServicesId: apple.clientId,
    appleTeamId: apple.teamId,
    appleKeyId: apple.keyId,
    applePrivateKey,
    githubClientId: github.clientId,
    githubClientSecret: github.clientSecret,
  }
}

export const allEnabled = {
  googleOperatorEnabled: true,
  googleClientEnabled: true,
  microsoftOperatorEnabled: true,
  microsoftClientEnabled: true,
  appleOperatorEnabled: true,
  appleClientEnabled: true,
  githubOperatorEnabled: true,
  githubClientEnabled: true,
} as const satisfies InitialSettings
