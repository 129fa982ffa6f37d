import { DeclarationError } from '../../errors/index.js'
import { checkDeclarations } from './check-declarations.js'
import type { FieldDeclaration } from './config-declaration.js'
import { isMembers, type Members } from './declaration-shape.js'

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
const maxName = 63
const nameForm = /^[a-z0-9]+([_-][a-z0-9]+)*$/

/**
 * Throws a `DeclarationError` with everything that is wrong with a module's declaration, whatever a host without types
 * passes as one.
 */
export function assertModule(module: ModuleDeclaration): void {
  const given: unknown = module
  if (!isMembers(given)) {
    const problem = 'is not an object; pass { name, environments, fields }'
    throw new DeclarationError('', [{ field: '', problem }])
  }
  const problems = [
    ...[...nameProblems(given), ...environmentProblems(given), ...validatorProblems(given)].map(
      (problem) => ({ field: '', problem }),
    ),
    ...checkDeclarations(module.fields),
  ]
  const { name } = given
  if (problems.length > 0)
    throw new DeclarationError(typeof name === 'string' ? name : '', problems)
}

const form = 'lower-case letters and digits, joined by single hyphens or underscores'

function nameProblems({ name }: Members): readonly string[] {
  return isName(name) ? [] : [`has a name that is not ${form}, at most ${maxName} characters`]
}

function environmentProblems({ environments }: Members): readonly string[] {
  if (!Array.isArray(environments) || environments.length === 0) {
    return ['has no environments; list one, such as ["production"]']
  }
  const malformed = environments.filter((one: unknown) => !isName(one))
  return [
    ...malformed.map((one) => `has an environment ${JSON.stringify(one)} that is not ${form}`),
    ...(new Set(environments).size < environments.length
      ? ['has an environment twice; keep one of them']
      : []),
  ]
}

function validatorProblems(module: Members): readonly string[] {
  return ['validatePatch', 'validateActivation'].flatMap((name) =>
    module[name] === undefined || typeof module[name] === 'function'
      ? []
      : [`has a "${name}" that is not a function; pass one, or leave it out`],
  )
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name.length <= maxName && nameForm.test(name)
}
