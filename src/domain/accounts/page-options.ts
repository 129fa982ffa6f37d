import { sha256 } from '../../crypto/secrets.js'
import { entryRules } from '../../engine/accounts.js'
import { maxPasswordBytes } from '../../engine/passwords.js'
import type { AuthSettings } from '../../settings/settings.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { OauthSignIn } from '../oauth/oauth-sign-in.js'

/** What sign-in and registration pages of a surface have to know, and strangers may. */
export interface PageOptions {
  /** Whether new accounts are made at all: with a password where `passwordLogin` is true, and by `providers`. */
  readonly registrationOpen: boolean
  readonly passwordLogin: boolean
  readonly passkeys: AuthSettings['webauthnMode']
  /** Whether an authenticator app may be enrolled. */
  readonly totp: boolean
  /** The ids of the providers that people sign in with. */
  readonly providers: readonly string[]
  /** In code points, after NFC. */
  readonly passwordMinLength: number
  /** In bytes of UTF-8. */
  readonly passwordMaxLength: number
  /** The terms that a registration has to accept; null for none. */
  readonly termsVersion: string | null
  readonly emailVerificationRequired: boolean
}

export interface TaggedPageOptions {
  readonly options: PageOptions
  /** The same for the same options, and for no others. */
  readonly version: string
}

type Deps = Pick<SurfaceContext, 'surface' | 'settings'>

/** Read from the settings alone, and the same for every caller. */
export function createPageOptions(
  { surface, settings }: Deps,
  oauth: Pick<OauthSignIn, 'offered'>,
): () => Promise<TaggedPageOptions> {
  return async () => {
    const [current, offered] = await Promise.all([settings(), oauth.offered()])
    const rules = entryRules(surface, current)
    const options: PageOptions = {
      registrationOpen: rules.registrationEnabled,
      passwordLogin: rules.passwordLoginEnabled,
      passkeys: current.webauthnMode,
      totp: current.totpEnabled,
      providers: offered.map(({ id }) => id),
      passwordMinLength: current.passwordMinLength,
      passwordMaxLength: maxPasswordBytes,
      termsVersion: rules.requiredTerms === '' ? null : rules.requiredTerms,
      emailVerificationRequired: rules.verificationRequired,
    }
    return { options, version: sha256(JSON.stringify(options)) }
  }
}
