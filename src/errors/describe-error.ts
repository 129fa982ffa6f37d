import { AuthError } from './auth-error.js'
import { DeclarationError } from './declaration-error.js'
import { LoadError } from './load-error.js'
import { OptionsError } from './options-error.js'
import { SecretKeyError } from './secret-key-error.js'
import { TimeoutError } from './timeout-error.js'

// Not ConfigValidationError: hosts write its message, and could quote a secret.
const ownErrors = [
  AuthError,
  DeclarationError,
  LoadError,
  OptionsError,
  SecretKeyError,
  TimeoutError,
]
const identifier = /^\w{1,64}$/

/**
 * The loggable part of an error: its name, its code, and the place that made it. Message, fields and
 * stack are left out, since drivers and mailers quote rows, values and links in them. Only messages
 * of this library's own errors are kept, as `detail`: loggers call the text of a line `message`.
 */
export function describeError(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { name, message, cause } = error
  const code = 'code' in error ? error.code : null
  const isOwn = ownErrors.some((own) => error instanceof own)
  const at = placeOf(error)
  return {
    error: identifier.test(name) ? name : 'Error',
    ...(isOwn ? { detail: message } : {}),
    ...(typeof code === 'string' && identifier.test(code) ? { code } : {}),
    ...(at === undefined ? {} : { at }),
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  }
}

/** File, line and column at the end of a frame. */
const place = /[^\w.-]([\w.-]+:\d+:\d+)\)?$/

/** The innermost frame without its path, such as `refresh.js:120:7`. */
function placeOf({ stack = '' }: Error): string | undefined {
  // Bounded, because the stack begins with a message of any length.
  const lines = stack.slice(0, 2000).split('\n')
  const frames = lines.filter((line) => /^\s+at /.test(line)).map((line) => place.exec(line)?.[1])
  return frames.find((found) => found !== undefined)
}
