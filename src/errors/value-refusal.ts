import { ConfigValidationError } from './config-validation-error.js'

/** A value that its declaration refuses, before any validator runs. Callers are told the key as `field`. */
export class ValueRefusal extends ConfigValidationError {
  constructor({ field, message, code }: ConfigValidationError) {
    super(field, message, code)
  }
}
