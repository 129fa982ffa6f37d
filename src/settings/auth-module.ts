import type { ModuleDeclaration } from '../engine/configuration/module-declaration.js'
import type { FieldRule } from '../engine/configuration/module-values.js'
import { valueProblem as plainProblem } from '../engine/configuration/stored-value.js'
import { authModuleName, authSettingDeclarations, findSetting } from './index.js'
import { valueProblem } from './value-problem.js'

/** The library's own settings, as a module like any other. */
export const authModule: ModuleDeclaration = {
  name: authModuleName,
  environments: ['production', 'sandbox'],
  fields: authSettingDeclarations,
}

/** As `valueProblem` of a setting, with the code that callers are given. */
export const authRule: FieldRule = (declaration, text) => {
  const setting = findSetting(declaration.key)
  const problem = setting === undefined ? null : valueProblem(setting, text)
  if (problem === null) return null
  const plain = plainProblem(declaration, text)
  if (plain?.code === 'value_malformed') return { code: plain.code, problem }
  return { code: setting?.code ?? 'value_out_of_range', problem }
}

/** Where a setting's value comes from: the environment is asked for one of them alone. */
export function authSourceOf(env: Readonly<Record<string, string | undefined>>) {
  return (key: string, stored: string | undefined): 'store' | 'env' | 'default' => {
    const setting = findSetting(key)
    const isSet = setting?.isSetWhenEmpty ? stored !== undefined : Boolean(stored)
    if (isSet) return 'store'
    return setting?.isSetBy?.(env) ? 'env' : 'default'
  }
}
