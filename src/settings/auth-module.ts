import type { FieldRule } from '../engine/configuration/check-values.js'
import type { ModuleDeclaration } from '../engine/configuration/module-declaration.js'
import { valueProblem as plainProblem } from '../engine/configuration/stored-value.js'
import { parseDuration } from '../engine/duration.js'
import { authModuleName, authSettingDeclarations } from './index.js'
import { findField } from './settings-reader.js'
import { valueProblem } from './stored-value.js'

/** The library's own settings, as a module like any other. */
export const authModule: ModuleDeclaration = {
  name: authModuleName,
  environments: ['production', 'sandbox'],
  fields: authSettingDeclarations,
}

/** What a value outside its range is called where it has a name of its own. */
const ownCodes: ReadonlyMap<string, string> = new Map([
  ['accessTokenTTL', 'access_token_ttl_too_short'],
  ['sessionAbsoluteTTL', 'session_absolute_ttl_out_of_range'],
])

/** As `valueProblem` of a setting, with the code that callers are given. */
export const authRule: FieldRule = (declaration, text) => {
  const field = findField(declaration.key)
  const problem = field === undefined ? null : valueProblem(field, text)
  if (problem === null) return null
  const plain = plainProblem(declaration, text)
  if (plain !== null && plain.code === null) return { code: null, problem }
  return { code: ownCodes.get(declaration.key) ?? 'value_out_of_range', problem }
}

/** Where a setting's value comes from: the environment is asked for one of them alone. */
export function authSourceOf(env: Readonly<Record<string, string | undefined>>) {
  const expiry = env['JWT_ACCESS_TOKEN_EXPIRY'] ?? ''
  return (key: string, stored: string | undefined): 'store' | 'env' | 'default' => {
    // Empty is a value of its own there: no cap.
    const isSet = key === 'sessionAbsoluteTTL' ? stored !== undefined : Boolean(stored)
    if (isSet) return 'store'
    return key === 'accessTokenTTL' && parseDuration(expiry) !== null ? 'env' : 'default'
  }
}
