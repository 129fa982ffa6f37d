import { apple } from './apple.js'
import { github } from './github.js'
import { google } from './google.js'
import { microsoft } from './microsoft.js'
import type { Provider } from './provider.js'

/** The four external identity providers, in the order in which they are listed. */
export const providers = { google, microsoft, apple, github } satisfies Record<string, Provider>

/** The id of an identity provider: `google`, `microsoft`, `apple` or `github`. */
export type ProviderId = keyof typeof providers

// The keys of `providers`, which `Object.keys` does not say.
export const providerIds = Object.keys(providers) as readonly ProviderId[]

/** Null for a text that is not one of the four. */
export function providerId(text: string): ProviderId | null {
  return providerIds.find((id) => id === text) ?? null
}
