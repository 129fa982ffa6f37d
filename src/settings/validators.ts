import { checkValues } from '../engine/configuration/module-values.js'
import type { ConfigValidationError } from '../errors/index.js'
import type { IsPublicAddress } from './address-rules.js'
import { authModule, authRule } from './auth-module.js'
import { factorKindProblem } from './factor-kinds.js'
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
 * active is judged as a whole. `adminStepUp` is the host's option of that name.
 */
export function authValidators(isPublicAddress: IsPublicAddress, adminStepUp: boolean) {
  return {
    validatePatch({ values, changedKeys }: Patched): ConfigValidationError | null {
      const changed = new Set(changedKeys)
      const isTouched = (key: string) => changed.has(key)
      const elements = new Set(changedKeys.map(elementOf))
      return (
        listProblem(values, (prefix) => elements.has(prefix), isPublicAddress) ??
        providerProblem(values, isTouched) ??
        loginMethodProblem(values, isTouched) ??
        factorKindProblem(values, isTouched, adminStepUp)
      )
    },

    validateActivation({ values }: Environment): ConfigValidationError | null {
      const { name: module, fields: declarations } = authModule
      const everything = { module, declarations, before: {}, values, changed: Object.keys(values) }
      const always = () => true
      return (
        checkValues(everything, authRule) ??
        // The host's code may have given them. No edit brings what only the code may give.
        listProblem(values, always, isPublicAddress, true) ??
        providerProblem(values, always) ??
        loginMethodProblem(values, always) ??
        factorKindProblem(values, always, adminStepUp)
      )
    },
  }
}

/** What all keys of an element begin with, taken from one of them. */
function elementOf(key: string): string {
  return key.slice(0, key.lastIndexOf('.') + 1)
}
