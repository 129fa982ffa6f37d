import { ConfigValidationError } from '../errors/index.js'
import type { SettingKey } from './settings.js'

const policies = ['mfaPolicyOperator', 'mfaPolicyClient'] as const
const kinds = ['totpEnabled', 'webauthnMode'] as const

/**
 * Refuses to leave a second factor demanded and every kind of it off: a user without one could not enroll one. With
 * `adminStepUp`, configuration writes demand one whatever the policies are.
 */
export function factorKindProblem(
  values: Readonly<Record<string, string>>,
  isTouched: (key: SettingKey) => boolean,
  adminStepUp: boolean,
): ConfigValidationError | null {
  if (![...policies, ...kinds].some(isTouched)) return null
  // Any other text in the store reads as the default: both kinds on, no policy required.
  const isAllOff = values['totpEnabled'] === 'false' && values['webauthnMode'] === 'off'
  if (!isAllOff) return null
  const demanding = policies.find((key) => values[key] === 'required')
  if (demanding === undefined && !adminStepUp) return null
  const who =
    demanding === undefined
      ? 'Configuration writes demand a second factor (adminStepUp)'
      : `"${demanding}" demands a second factor`
  const message = `${who}, and every kind of it would be off. Keep "totpEnabled" or "webauthnMode" on.`
  return new ConfigValidationError(demanding ?? 'totpEnabled', message, 'auth.no_mfa_method')
}
