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
export { SecretKeyError } from '../errors/index.js'
export type { Random } from '../ports/host.js'
