import type { NotCarried } from './import-source.js'

/** An account at a provider that Postern does not know. */
export function leftProvider(provider: string): NotCarried {
  // Names of providers come from the configuration; any other text in their place is not repeated.
  const name = /^[\w-]{1,40}$/.test(provider) ? provider : 'another provider'
  return {
    code: 'provider',
    reason: `An account at ${name} stays behind: there is Google, GitHub, Apple and Microsoft.`,
  }
}
