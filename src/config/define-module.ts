import type { FieldDeclaration } from '../engine/configuration/config-declaration.js'
import { assertModule, type ModuleDeclaration } from '../engine/configuration/module-declaration.js'
import type { FieldValues } from '../engine/configuration/module-values.js'
import type { ConfigValidationError } from '../errors/index.js'

/** The environment, as a validator sees it. */
export interface ActivationContext<Fields extends readonly FieldDeclaration[]> {
  /** The name of the environment. */
  readonly environment: string
  /** The stored texts by key, with secrets decrypted. */
  readonly values: Readonly<Record<string, string>>
  /** The same as typed values, with defaults filled in. */
  readonly settings: FieldValues<Fields>
  /** The keys of secrets that are stored and cannot be decrypted. In `values` and `settings` they look as if not set. */
  readonly unreadable: readonly string[]
}

/** The environment as it would be after a patch. */
export interface PatchContext<Fields extends readonly FieldDeclaration[]>
  extends ActivationContext<Fields> {
  /** The keys whose text the patch sets. */
  readonly changedKeys: readonly string[]
}

/** A validator accepts by returning nothing, and refuses by returning or throwing an error. */
// biome-ignore lint/suspicious/noConfusingVoidType: a validator that only throws returns void.
export type Verdict = ConfigValidationError | null | undefined | void

/** The declaration of a module, with its validators. */
export interface ModuleDefinition<
  Fields extends readonly FieldDeclaration[] = readonly FieldDeclaration[],
> extends ModuleDeclaration<Fields> {
  /**
   * Called for every edit of an environment, active or not, before anything is written; called again
   * when another edit was written meanwhile.
   */
  validatePatch?(context: PatchContext<Fields>): Verdict | Promise<Verdict>
  /**
   * Called before an environment becomes active; called again when its values were edited meanwhile. Without it every
   * environment may.
   */
  validateActivation?(context: ActivationContext<Fields>): Verdict | Promise<Verdict>
}

/** The typed values of a module: `ModuleValues<typeof mail>`. */
export type ModuleValues<Module extends Pick<ModuleDefinition, 'fields'>> = FieldValues<
  Module['fields']
>

/**
 * Declares a module. The types of its values follow from the declaration, so pass `fields` as a
 * literal. Throws a `DeclarationError` that lists every problem.
 *
 * @example
 * import { defineModule, FieldDuration, FieldString } from 'postern/config'
 *
 * const mail = defineModule({
 *   name: 'mail',
 *   environments: ['production', 'sandbox'],
 *   fields: [
 *     { key: 'sender', label: 'Sender', type: FieldString, group: 'Mail', envVar: 'MAIL_FROM' },
 *     { key: 'timeout', label: 'Timeout', type: FieldDuration, group: 'Mail', default: '30s' },
 *   ],
 * })
 * // createAuth({ modules: [mail] }), then:
 * const { sender, timeout } = await auth.config.read(mail) // string, milliseconds
 */
export function defineModule<const Fields extends readonly FieldDeclaration[]>(
  definition: ModuleDefinition<Fields>,
): ModuleDefinition<Fields> {
  assertModule(definition)
  return definition
}
