import { antiAbuseFields } from './anti-abuse.js'
import type { AuthField } from './auth-field.js'
import { loginAndSessionFields } from './login-and-sessions.js'
import { mfaFields } from './mfa.js'
import { oauthProviderFields } from './oauth-providers.js'
import { passwordPolicyFields } from './password-policy.js'
import { registrationFields } from './registration.js'
import { sessionAndAccountFields } from './sessions-and-account.js'

/** The module's name in the configuration store. */
export const authModuleName = 'auth'

/** The 63 settings of the `auth` module, group by group. */
export const authSettingDeclarations: readonly AuthField[] = [
  ...registrationFields,
  ...loginAndSessionFields,
  ...passwordPolicyFields,
  ...mfaFields,
  ...oauthProviderFields,
  ...antiAbuseFields,
  ...sessionAndAccountFields,
]
