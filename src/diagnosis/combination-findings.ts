import type { Finding } from '../ports/finding.js'
import { factorKindProblem } from '../settings/factor-kinds.js'
import { loginMethodProblem } from '../settings/login-methods.js'

const check = 'settings'

/** Of stored values of the module `auth` that are right each by itself, and lock users out together. */
export function combinationFindings(
  values: Readonly<Record<string, string>>,
  adminStepUp: boolean,
): readonly Finding[] {
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
