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
  isSlug,
  mintSlug,
  type RecordElement,
  readRecordList,
} from '../engine/configuration/config-keys.js'
export {
  type ConfigPatch,
  checkPatch,
  type EnvironmentState,
  mayRetry,
  type PatchPlan,
  type PatchRefusal,
  type PatchRefusalCode,
  type PatchRoute,
  planPatch,
  type RecordListChange,
} from '../engine/configuration/config-patch.js'
export {
  checkDeclarations,
  type ModuleDeclaration,
} from '../engine/configuration/module-declaration.js'
export {
  checkValues,
  type ElementValues,
  type FieldRule,
  type FieldValues,
  type PatchedValues,
  readModule,
} from '../engine/configuration/module-values.js'
export {
  diffRevisions,
  type PublicValues,
  publicValues,
  type RevisionChange,
  secretTest,
} from '../engine/configuration/revisions.js'
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
