export {
  type OpenedValues,
  openValues,
  planReencryption,
  type ReencryptionPlan,
  type SealedPlace,
  sealValues,
} from '../crypto/sealed-values.js'
export {
  type ConfigKey,
  type SecretBox,
  type SecretPlace,
  secretBox,
} from '../crypto/secret-box.js'
export { checkDeclarations } from '../engine/check-declarations.js'
export type { PatchDoor } from '../engine/check-patch.js'
export { checkValues, type FieldRule, type PatchedValues } from '../engine/check-values.js'
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
} from '../engine/config-declaration.js'
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
} from '../engine/config-patch.js'
export { formatDuration, parseDuration } from '../engine/duration.js'
export type { ModuleDeclaration } from '../engine/module-declaration.js'
export type { ElementValues, FieldValues } from '../engine/module-values.js'
export { readModule } from '../engine/read-module.js'
export { type RecordElement, readRecordList } from '../engine/record-list.js'
export {
  diffRevisions,
  type PublicValues,
  publicValues,
  type RevisionChange,
} from '../engine/revision-diff.js'
export { secretTest } from '../engine/secret-keys.js'
export { isSlug, mintSlug } from '../engine/slug.js'
export { type ValueProblem, valueProblem } from '../engine/stored-value.js'
export {
  ConfigValidationError,
  DeclarationError,
  type DeclarationProblem,
  SecretKeyError,
} from '../errors/index.js'
export type { Random } from '../ports/random.js'
export {
  type ActivationContext,
  defineModule,
  type ModuleDefinition,
  type ModuleValues,
  type PatchContext,
  type Verdict,
} from './define-module.js'
