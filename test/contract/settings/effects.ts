import { abuseEffects } from './abuse-effects.js'
import type { Effects } from './effect.js'
import { mfaEffects } from './mfa-effects.js'
import { passwordEffects } from './password-effects.js'
import { registrationEffects } from './registration-effects.js'
import { sessionEffects } from './session-effects.js'

/** What each setting does whose feature exists. */
export const effects: Effects = {
  ...registrationEffects,
  ...sessionEffects,
  ...passwordEffects,
  ...mfaEffects,
  ...abuseEffects,
}
