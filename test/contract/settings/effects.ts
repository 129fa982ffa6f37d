import { abuseEffects } from './abuse-effects.js'
import { deviceEffects } from './device-effects.js'
import type { Effects } from './effect.js'
import { mfaEffects } from './mfa-effects.js'
import { noticeEffects } from './notice-effects.js'
import { oauthEffects } from './oauth-effects.js'
import { passwordEffects } from './password-effects.js'
import { registrationEffects } from './registration-effects.js'
import { sessionEffects } from './session-effects.js'

/** What each setting does whose feature exists. */
export const effects: Effects = {
  ...registrationEffects,
  ...sessionEffects,
  ...passwordEffects,
  ...mfaEffects,
  ...oauthEffects,
  ...deviceEffects,
  ...abuseEffects,
  ...noticeEffects,
}
