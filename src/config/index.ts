export { checkDeclarations } from '../engine/configuration/check-declarations.js'
export type { PatchRoute } from '../engine/configuration/check-patch.js'
export {
  checkValues,
  type FieldRule,
  type PatchedValues,
} from '../engine/configuration/check-values.js'
export {
  FieldBool,
  type FieldDeclaration,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
  type FieldType,
  type ItemDeclaration,
} from '../engine/configuration/config-declaration.js'
export {
  type ConfigPatch,
  checkPatch,
  type EnvironmentState,
  mayRetry,
  type PatchPlan,
  type PatchRefusal,
  type PatchRefusalCode,
  planPatch,
  type RecordListChange,
} from '../engine/configuration/config-patch.js'
export type { ModuleDeclaration } from '../engine/configuration/module-declaration.js'
export type { ElementValues, FieldValues } from '../engine/configuration/module-values.js'
export { readModule } from '../engine/configuration/read-module.js'
export { type RecordElement, readRecordList } from '../engine/configuration/record-list.js'
export {
  diffRevisions,
  type PublicValues,
  publicValues,
  type RevisionChange,
} from '../engine/configuration/revision-diff.js'
export { secretTest } from '../engine/configuration/secret-keys.js'
export { isSlug, mintSlug } from '../engine/configuration/slug.js'
export { type ValueProblem, valueProblem } from '../engine/configuration/stored-value.js'
export { formatDuration, parseDuration } from '../engine/duration.js'
export {
  ConfigValidationError,
  DeclarationError,
  type DeclarationProblem,
} from '../errors/index.js'
export {
  type ActivationContext,
  defineModule,
  type ModuleDefinition,
  type ModuleValues,
  type PatchContext,
  type Verdict,
} from './define-module.js'
