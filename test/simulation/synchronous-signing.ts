import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Signatures are real, but made at once: those of the thread pool come back in an order of their own.
 * Returns what puts the thread pool back.
 */
export function synchronousSigning(): () => void {
  const original = crypto.sign
  const atOnce = (...args: readonly unknown[]): unknown => {
    const [algorithm, data, key, callback] = args
    const bytes = Reflect.apply(original, crypto, [algorithm, data, key])
    if (typeof callback !== 'function') return bytes
    queueMicrotask(() => callback(null, bytes))
    return undefined
  }
  Object.assign(crypto, { sign: atOnce })
  syncBuiltinESMExports()
  return () => {
    Object.assign(crypto, { sign: original })
    syncBuiltinESMExports()
  }
}
