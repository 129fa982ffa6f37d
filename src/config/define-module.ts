import type { FieldDeclaration } from '../engine/configuration/config-declaration.js'
import { assertModule, type ModuleDeclaration } from '../engine/configuration/module-declaration.js'
import type { FieldValues } from '../engine/configuration/module-values.js'
import type { ConfigValidationError } from '../errors/index.js'

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

/** A module with what it says of its values. */
export interface ModuleDefinition<
  Fields extends readonly FieldDeclaration[] = readonly FieldDeclaration[],
> extends ModuleDeclaration<Fields> {
  /**
   * Asked at every edit of an environment, active or not, before anything is written; once more
   * when another edit came between.
   */
  validatePatch?(context: PatchContext<Fields>): Verdict | Promise<Verdict>
  /** Asked before an environment becomes active. Without it any environment can. */
  validateActivation?(context: ActivationContext<Fields>): Verdict | Promise<Verdict>
}

/** The typed values of a module: `ModuleValues<typeof mail>`. */
export type ModuleValues<Module extends Pick<ModuleDefinition, 'fields'>> = FieldValues<
  Module['fields']
>

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
