import { isVerificationRequired } from '../engine/accounts.js'
import { settingsFor } from '../engine/surface-settings.js'
import type { Finding } from '../ports/inspection.js'
import { factorKindProblem, loginMethodProblem } from '../settings/auth-module.js'
import { readAuthSettings } from '../settings/settings.js'

type Values = Readonly<Record<string, string>>

const check = 'settings'

/** The findings about stored values of the module `auth` that are right each by itself, and wrong together. */
export function combinationFindings(values: Values, adminStepUp: boolean): readonly Finding[] {
  return [...lockedOut(values, adminStepUp), ...unprovedDomains(values)]
}

function lockedOut(values: Values, adminStepUp: boolean): readonly Finding[] {
  const always = () => true
  const problems = [
    loginMethodProblem(values, always),
    factorKindProblem(values, always, adminStepUp),
  ]
  return problems.flatMap((found): readonly Finding[] => {
    if (found === null) return []
    const remedy = 'Set one of the settings it names: postern settings set KEY=VALUE.'
    return [{ check, problem: found.message, remedy }]
  })
}

/** A rule compares the text of an address. Only a proved mailbox shows whose the address is. */
function unprovedDomains(values: Values): readonly Finding[] {
  const { settings } = readAuthSettings(values, {})
  const open = (['operator', 'client'] as const).filter((surface) => {
    const own = settingsFor(surface, settings)
    if (isVerificationRequired(settings, own) || own.allowedDomains.length === 0) return false
    return own.registrationEnabled && own.passwordLoginEnabled
  })
  if (open.length === 0) return []
  const problem = `"registrationAllowedDomains" keeps no stranger from registering on the ${open.join(' and the ')} surface: "emailVerificationRequired" is off, so a stranger who types an address of an allowed domain is signed in with it.`
  const remedy = 'Switch it on: postern settings set emailVerificationRequired=true'
  return [{ check, problem, remedy }]
}
