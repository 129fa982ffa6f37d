export {
  type ConfigKey,
  type OpenedValues,
  openValues,
  planReencryption,
  type ReencryptionPlan,
  type SealedPlace,
  type SecretBox,
  type SecretPlace,
  sealValues,
  secretBox,
} from '../crypto/secret-box.js'
export { SecretKeyError } from '../errors/index.js'
export type { Random } from '../ports/host.js'
