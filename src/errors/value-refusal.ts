import { ConfigValidationError } from './config-validation-error.js'

/** A value that is refused by itself, and not beside other values. Callers are told the key as `field`. */
export class ValueRefusal extends ConfigValidationError {
  constructor({ field, message, code }: ConfigValidationError) {
    super(field, message, code)
  }
}
