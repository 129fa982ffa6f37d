import { type ConfigValidationError, DeclarationError, type DeclarationProblem } from '../errors.js'
import { checkDeclarations } from './check-declarations.js'
import type { FieldDeclaration } from './config-declaration.js'
import type { FieldValues } from './module-values.js'

/** What a validator sees of an environment. */
export interface ActivationContext<Fields extends readonly FieldDeclaration[]> {
  /** The name of the environment. */
  readonly environment: string
  /** Its texts by key, as they are stored but with secrets decrypted. */
  readonly values: Readonly<Record<string, string>>
  /** The same as typed values, defaults filled in. */
  readonly settings: FieldValues<Fields>
}

/** What a PATCH-time validator sees: the environment as it would be after the patch. */
export interface PatchContext<Fields extends readonly FieldDeclaration[]>
  extends ActivationContext<Fields> {
  /** The keys whose text the patch sets. */
  readonly changedKeys: readonly string[]
}

/** A validator accepts by returning nothing and refuses by returning or throwing an error. */
// biome-ignore lint/suspicious/noConfusingVoidType: a validator that only throws returns void.
export type Verdict = ConfigValidationError | null | undefined | void

/** A unit of configuration: its fields, its environments, and what it says of their values. */
export interface ModuleDefinition<
  Fields extends readonly FieldDeclaration[] = readonly FieldDeclaration[],
> {
  readonly name: string
  /** The first one is active to begin with. */
  readonly environments: readonly string[]
  readonly fields: Fields
  /**
   * Asked at every edit of either kind of environment, active or not, before anything is written;
   * more than once when another edit came between.
   */
  validatePatch?(context: PatchContext<Fields>): Verdict | Promise<Verdict>
  /** Asked before an environment becomes active. Without it any environment can. */
  validateActivation?(context: ActivationContext<Fields>): Verdict | Promise<Verdict>
}

/** The typed values of a module: `ModuleValues<typeof mail>`. */
export type ModuleValues<Module extends Pick<ModuleDefinition, 'fields'>> = FieldValues<
  Module['fields']
>

/** Of modules and environments: a part of a URL, and of the place a secret is bound to. */
const nameForm = /^[a-z0-9]+([_-][a-z0-9]+)*$/

/**
 * Declares a module. The types of its values follow from the declaration, so give `fields` as a
 * literal. Throws a `DeclarationError` that lists everything wrong with it.
 */
export function defineModule<const Fields extends readonly FieldDeclaration[]>(
  definition: ModuleDefinition<Fields>,
): ModuleDefinition<Fields> {
  assertModule(definition)
  return definition
}

/** Throws a `DeclarationError` when a module breaks a rule of declarations. */
export function assertModule(definition: ModuleDefinition): void {
  const problems = [...nameProblems(definition), ...checkDeclarations(definition.fields)]
  if (problems.length > 0) throw new DeclarationError(definition.name, problems)
}

function nameProblems({ name, environments }: ModuleDefinition): readonly DeclarationProblem[] {
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
