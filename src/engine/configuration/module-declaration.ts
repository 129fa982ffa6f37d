import { DeclarationError, type DeclarationProblem } from '../../errors/index.js'
import { checkDeclarations } from './check-declarations.js'
import type { FieldDeclaration } from './config-declaration.js'

/** A unit of configuration: its fields, and the environments that each hold values for them. */
export interface ModuleDeclaration<
  Fields extends readonly FieldDeclaration[] = readonly FieldDeclaration[],
> {
  /** Lower-case letters and digits, joined by single hyphens or underscores; at most 63 characters. */
  readonly name: string
  /** At least one, of the form of `name`. The first is active until an operator switches. */
  readonly environments: readonly string[]
  readonly fields: Fields
}

/** Part of a URL, and of the place a secret is bound to. */
const nameForm = /^[a-z0-9]+([_-][a-z0-9]+)*$/

/** Throws a `DeclarationError` with everything that is wrong with a module's declaration. */
export function assertModule(module: ModuleDeclaration): void {
  const problems = [...nameProblems(module), ...checkDeclarations(module.fields)]
  if (problems.length > 0) throw new DeclarationError(module.name, problems)
}

function nameProblems({ name, environments }: ModuleDeclaration): readonly DeclarationProblem[] {
  const form = 'lower-case letters and digits, joined by single hyphens or underscores'
  const malformed = environments.filter((one) => !isName(one))
  return [
    ...(isName(name) ? [] : [`has a name that is not ${form}`]),
    ...(environments.length > 0 ? [] : ['has no environments; name one, such as "production"']),
    ...malformed.map((one) => `has an environment "${one}" that is not ${form}`),
    ...(new Set(environments).size < environments.length ? ['has an environment twice'] : []),
  ].map((problem) => ({ field: '', problem }))
}

function isName(text: string): boolean {
  return text.length <= 63 && nameForm.test(text)
}
