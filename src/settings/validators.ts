import { checkValues } from '../engine/configuration/check-values.js'
import type { ConfigValidationError } from '../errors/index.js'
import type { IsPublicAddress } from './address-rules.js'
import { authModule, authRule } from './auth-module.js'
import { listProblem } from './list-problems.js'
import { loginMethodProblem, providerProblem } from './login-methods.js'

interface Environment {
  /** Its texts, secrets decrypted. */
  readonly values: Readonly<Record<string, string>>
}

interface Patched extends Environment {
  readonly changedKeys: readonly string[]
}

/**
 * The validators of the `auth` module. An edit is judged by what it touches, so that one damaged
 * value, or a bad first value, cannot stop every other edit; an environment about to become
 * active is judged as a whole.
 */
export function authValidators(isPublicAddress: IsPublicAddress) {
  return {
    validatePatch({ values, changedKeys }: Patched): ConfigValidationError | null {
      const changed = new Set(changedKeys)
      const isTouched = (key: string) => changed.has(key)
      return (
        listProblem(
          values,
          (prefix) => changedKeys.some((key) => key.startsWith(prefix)),
          isPublicAddress,
        ) ??
        providerProblem(values, isTouched) ??
        loginMethodProblem(values, isTouched)
      )
    },

    validateActivation({ values }: Environment): ConfigValidationError | null {
      const { name: module, fields: declarations } = authModule
      const everything = { module, declarations, before: {}, values, changed: Object.keys(values) }
      const always = () => true
      return (
        checkValues(everything, authRule) ??
        listProblem(values, always, isPublicAddress) ??
        providerProblem(values, always) ??
        loginMethodProblem(values, always)
      )
    },
  }
}
