import type { ConfigProblem, ModuleInspection } from '../domain/configuration/config-views.js'
import { isVerificationRequired } from '../engine/accounts.js'
import { settingsFor } from '../engine/surface-settings.js'
import type { Finding } from '../ports/inspection.js'
import type { Surface } from '../ports/surface.js'
import { factorKindProblem, listProblem, loginMethodProblem } from '../settings/auth-module.js'
import { readIdleWindow } from '../settings/login-and-sessions-settings.js'
import { readAuthSettings } from '../settings/settings.js'
import { isPublicAddress } from '../system/system-fetcher.js'

type Kind = ConfigProblem['kind']
type Env = Readonly<Record<string, string | undefined>>

/** What a person reads of the problems of stored values. */
export function settingsFindings(modules: readonly ModuleInspection[]): readonly Finding[] {
  return modules.flatMap(({ problems }) => problems.map((problem) => texts[problem.kind](problem)))
}

/** The finding about a variable that does not say how long a session may go without a refresh. */
export function idleWindowFindings(env: Env): readonly Finding[] {
  const { warning } = readIdleWindow(env)
  if (warning === undefined) return []
  const remedy = "Write a duration such as '7d' or '12h' of at least a minute, or leave it out."
  return [{ check: 'settings', problem: warning, remedy }]
}

/** The finding about the first stored list element of the module `auth` that no edit and no host may give any more. */
export function listFindings(values: Readonly<Record<string, string>>): readonly Finding[] {
  const found = listProblem(values, () => true, isPublicAddress, true)
  if (found === null) return []
  const remedy = `Correct the element: postern settings set ${found.field}=…`
  return [{ check: 'settings', problem: found.message, remedy }]
}

const texts: Readonly<Record<Kind, (problem: ConfigProblem) => Finding>> = {
  unregistered: ({ module, environment }) => ({
    check: 'settings',
    problem: `The module "${module}" has no stored values in "${environment}".`,
    remedy: 'Run postern migrate --apply, or call auth.migrate().',
  }),
  unreadable: (problem) => ({
    check: 'encryption',
    problem: `No key of configKeys opens the secret ${placeOf(problem)}: requests that need it fail.`,
    remedy: 'Give the key back that encrypted it, behind the first one, or set the secret anew.',
  }),
  olderKey: (problem) => ({
    check: 'encryption',
    problem: `The secret ${placeOf(problem)} is not under the first of configKeys: the rotation is not finished.`,
    remedy: 'Call auth.config.reencrypt() once each process has the first key.',
  }),
  noSecret: (problem) => ({
    check: 'encryption',
    problem: `${placeOf(problem)} holds an encrypted secret, and the field is not declared as a secret: reading it fails.`,
    remedy: `Declare the field as a secret, or set it again: postern settings set ${setterOf(problem)}`,
  }),
  invalid: (problem) => ({
    check: 'settings',
    problem: `The stored value of ${placeOf(problem)} ${problem.problem}; another one is in force.`,
    remedy: `Set it: postern settings set ${setterOf(problem)}`,
  }),
  refused: (problem) => ({
    check: 'settings',
    problem: `The first value of ${placeOf(problem)}${sourceOf(problem)} was not stored: it ${problem.problem}.`,
    remedy: 'Correct it. The next start stores it.',
  }),
  waiting: (problem) => ({
    check: 'settings',
    problem: `The first value of ${placeOf(problem)}${sourceOf(problem)} is not stored yet, and so not in force.`,
    remedy: 'Start the host again, or run postern migrate --apply: both store it.',
  }),
  differs: (problem) => ({
    check: 'settings',
    problem: `The value of ${placeOf(problem)} that the host gives${sourceOf(problem)} is not the stored one. The stored one is in force.`,
    remedy: `Take it out of the host's options or environment, or store it: postern settings set ${setterOf(problem)}`,
  }),
}

function placeOf({ module, environment, key }: ConfigProblem): string {
  return `"${module}.${key}" in "${environment}"`
}

function sourceOf({ envVar }: ConfigProblem): string {
  return envVar === null ? '' : ` (in createAuth, or in ${envVar})`
}

function setterOf({ module, environment, key }: ConfigProblem): string {
  const flag = module === 'auth' ? '' : ` --module ${module}`
  return `${key}=…${flag} --environment ${environment}`
}

type Values = Readonly<Record<string, string>>

const check = 'settings'

/** The findings about stored values of the module `auth` that are right each by itself, and wrong together. */
export function combinationFindings(
  values: Values,
  surfaces: readonly Surface[],
  adminStepUp: boolean,
  declared: readonly Surface[] = [],
): readonly Finding[] {
  return [...lockedOut(values, adminStepUp, declared), ...unprovedDomains(values, surfaces)]
}

/** The finding about a product without a name. Authenticator apps keep the one that they were enrolled under. */
export function nameFindings(auth: ModuleInspection | undefined): readonly Finding[] {
  if (auth === undefined || auth.problems.some(({ kind }) => kind === 'unregistered')) return []
  if (readAuthSettings(auth.values, {}).settings.totpIssuer !== 'Auth') return []
  const problem =
    'Authenticator apps and passkeys call your product "Auth", the default of "totpIssuer".'
  const remedy = 'Name it: postern settings set totpIssuer="Your product"'
  return [{ check, problem, remedy }]
}

function lockedOut(
  values: Values,
  adminStepUp: boolean,
  declared: readonly Surface[],
): readonly Finding[] {
  const always = () => true
  const problems = [
    loginMethodProblem(values, always, declared),
    factorKindProblem(values, always, adminStepUp),
  ]
  return problems.flatMap((found): readonly Finding[] => {
    if (found === null) return []
    const remedy = 'Set one of the settings it names: postern settings set KEY=VALUE.'
    return [{ check, problem: found.message, remedy }]
  })
}

/** A rule compares the text of an address. Only a proved mailbox shows whose the address is. */
function unprovedDomains(values: Values, surfaces: readonly Surface[]): readonly Finding[] {
  const { settings } = readAuthSettings(values, {})
  const open = surfaces.filter((surface) => {
    const own = settingsFor(surface, settings)
    if (isVerificationRequired(settings, own) || own.allowedDomains.length === 0) return false
    return own.registrationEnabled && own.passwordLoginEnabled
  })
  if (open.length === 0) return []
  const problem = `"registrationAllowedDomains" keeps no stranger from registering on the ${open.join(' and the ')} surface: "emailVerificationRequired" is off, so a stranger who types an address of an allowed domain is signed in with it.`
  const remedy = 'Switch it on: postern settings set emailVerificationRequired=true'
  return [{ check, problem, remedy }]
}
