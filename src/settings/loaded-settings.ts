import { guardedValues } from '../engine/configuration/module-values.js'
import { shortestSigningSecret } from './anti-abuse-settings.js'
import { loginMethodProblem, providerProblem, type SurfaceName } from './auth-module.js'
import { type AuthSettingsReading, readAuthSettings } from './settings.js'

/** Stands where a text is that does not decrypt; it is never read. */
const placeholder = '*'

/** The stored texts of an environment, secrets decrypted, without those that do not decrypt. */
export interface LoadedTexts {
  readonly values: Readonly<Record<string, string>>
  /** The keys of secrets that are set and do not decrypt. */
  readonly unreadable: readonly string[]
}

/**
 * As `readAuthSettings`, frozen, for texts as they come from the store. A secret that does not
 * decrypt is neither empty nor its default: reading it throws what `refuse` throws, a warning
 * names it, and every other setting is in force. Other warnings name what an enabled provider
 * lacks and a surface without a login method, which first values may both leave open, and webhooks
 * whose signing secret is short.
 */
export function loadedSettings(
  { values, unreadable }: LoadedTexts,
  env: Readonly<Record<string, string | undefined>>,
  refuse: () => never,
  declared: readonly SurfaceName[] = [],
): AuthSettingsReading {
  const standIns = Object.fromEntries(unreadable.map((key) => [key, placeholder]))
  const texts = { ...values, ...standIns }
  const { settings, warnings } = readAuthSettings(texts, env)
  const guarded = guardedValues(settings, unreadable, refuse)
  const damaged = unreadable.map(
    (key) => `Setting "${key}" cannot be decrypted. Set it again, or give back its key.`,
  )
  const incomplete = providerProblem(texts, () => true)?.message
  const lacking = incomplete === undefined ? [] : [`A provider cannot be used: ${incomplete}`]
  const closed = loginMethodProblem(texts, () => true, declared)
  // An older version took shorter ones. If they were refused now, the events to the webhook would stop.
  const weak = settings.securityWebhooks
    .filter(({ slug }) => !unreadable.includes(`securityWebhooks.${slug}.signingSecret`))
    .filter(({ signingSecret }) => signingSecret.length < shortestSigningSecret)
    .map(
      ({ slug }) =>
        `The signing secret of the webhook "${slug}" has fewer than ${shortestSigningSecret} characters, so a receiver's log is enough to guess it. Set a new one, such as \`openssl rand -hex 32\` prints.`,
    )
  const closing = closed === null ? [] : [closed.message]
  return { settings: guarded, warnings: [...warnings, ...damaged, ...lacking, ...closing, ...weak] }
}
