import { type ErrorCode, errorCatalogue } from './error-catalogue.js'

export { type ErrorCode, errorCatalogue, titleOf } from './error-catalogue.js'

/** The rules that a new password can violate, as a `password_policy` refusal lists them. */
export const passwordViolations = [
  'too_short',
  'too_long',
  'common',
  'contextual',
  'breached',
  'reused',
] as const

/** One of the rules of the password policy. */
export type PasswordViolation = (typeof passwordViolations)[number]

/**
 * Seconds (RFC 9110 §10.2.3). Short, because a client that repeats a refresh whose answer was lost
 * has to do so within the window of a retired token.
 */
const outageRetryAfter = 1

/** What an `AuthError` carries beside its code. */
export interface AuthErrorOptions {
  /** Replaces the catalogue's text in the reply. It must hold neither input nor secrets. */
  readonly detail?: string
  /** Whole seconds, sent as `Retry-After` (RFC 9110 §10.2.3). */
  readonly retryAfter?: number
  /**
   * For `step_up_required` and `mfa_enrollment_required`: the greatest age of the proof in whole seconds
   * (RFC 9470 `max_age`).
   */
  readonly maxAgeSeconds?: number
  /** For `password_policy`: the rules that the password violates. */
  readonly violations?: readonly PasswordViolation[]
  /** The key or record list that a configuration change was refused for. */
  readonly field?: string
  /** What `beforeRegister` refused with. */
  readonly reason?: string
  readonly cause?: unknown
}

/**
 * A refusal, thrown by every function of this library that refuses. `code` is a key of
 * `errorCatalogue`, `status` its HTTP status. `message` is safe to show to the caller.
 */
export class AuthError extends Error {
  override readonly name = 'AuthError'
  readonly code: ErrorCode
  readonly status: number
  /** Whole seconds to wait before a retry; null where waiting does not help. */
  readonly retryAfter: number | null
  /** Whole seconds; null for every code but `step_up_required` and `mfa_enrollment_required`. */
  readonly maxAgeSeconds: number | null
  /** At least one rule; null for every code but `password_policy`. */
  readonly violations: readonly PasswordViolation[] | null
  /** The key or record list that a configuration change was refused for; null for other refusals. */
  readonly field: string | null
  /** The code that `beforeRegister` refused with; null for other refusals. */
  readonly reason: string | null

  constructor(code: ErrorCode, options: AuthErrorOptions = {}) {
    const entry = errorCatalogue[code]
    super(options.detail ?? entry.detail, { cause: options.cause })
    this.code = code
    this.status = entry.status
    this.retryAfter = options.retryAfter ?? (entry.status === 503 ? outageRetryAfter : null)
    this.maxAgeSeconds = options.maxAgeSeconds ?? null
    this.violations = options.violations ?? null
    this.field = options.field ?? null
    this.reason = options.reason ?? null
  }
}

/**
 * A module's validator returns or throws it to refuse values. With a `code` (dotted, such as
 * `tenant.single_mode_conflict`), callers get 422 with `message` as the detail. Without one, they get
 * the bare text `Unprocessable Entity`.
 */
export class ConfigValidationError extends Error {
  override readonly name = 'ConfigValidationError'
  /** The key of the refused value, such as `sender` or `hooks.gmail-eu.url`. */
  readonly field: string
  readonly code?: string

  /** The administrator who edits the configuration sees `message`: it must not quote a secret. */
  constructor(field: string, message: string, code?: string) {
    super(message)
    this.field = field
    if (code !== undefined) this.code = code
  }
}

/** A problem of a module's declaration. */
export interface DeclarationProblem {
  /** `sender`, `hooks.url` for a sub-field, `fields[2]` for one without a key, or '' for the module itself. */
  readonly field: string
  /** The problem and its remedy: the rest of a sentence that begins with the field. */
  readonly problem: string
}

/** `defineModule` and `createAuth` throw it for a module whose declaration breaks a rule. */
export class DeclarationError extends Error {
  override readonly name = 'DeclarationError'
  readonly module: string
  /** All problems, not just the first. */
  readonly problems: readonly DeclarationProblem[]

  constructor(module: string, problems: readonly DeclarationProblem[]) {
    const lines = problems.map(({ field, problem }) =>
      field === '' ? `it ${problem}` : `field "${field}" ${problem}`,
    )
    super(`Module "${module}" is not declared correctly: ${lines.join('; ')}`)
    this.module = module
    this.problems = problems
  }
}

/**
 * `createAuth` rejects with it for an option that cannot work. The message names the option, the form
 * it must have, and the remedy; it never repeats a secret.
 */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
  /** The option's path, such as `surfaces.client.baseUrl`. */
  readonly option: string

  constructor(option: string, problem: string, options?: { readonly cause: unknown }) {
    super(`createAuth: option "${option}" ${problem}`, options)
    this.option = option
  }
}

/** Thrown for a key that cannot encrypt configuration secrets. The message never repeats the key. */
export class SecretKeyError extends Error {
  override readonly name = 'SecretKeyError'
  /** The id of the key in the ring. */
  readonly keyId: string

  constructor(keyId: string, problem: string) {
    super(`The configuration encryption key "${keyId}" ${problem}`)
    this.keyId = keyId
  }
}

/**
 * The cause of a refusal: a token names a signing key that the ring does not hold. The token may be
 * genuine, so no cookie is cleared for it.
 */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError'

  constructor() {
    super('the token names a signing key that the ring does not hold')
  }
}

/** The cause of a refusal: a genuine token was issued in the future, so a clock of the host's processes is wrong. */
export class EarlyTokenError extends Error {
  override readonly name = 'EarlyTokenError'

  constructor() {
    super(
      'the token was issued in the future: the clock of this process, or of the one that issued it, is wrong',
    )
  }
}

/**
 * What went wrong, in `cause`, on a way of which it is known where it leads on. A person who is on that way with a
 * whole page goes there.
 */
export class WaysideError extends Error {
  override readonly name = 'WaysideError'
  /** Of the host's own page or app; it names the error. */
  readonly location: string

  constructor(location: string, cause: unknown) {
    super('a request failed on a known way', { cause })
    this.location = location
  }
}

/** An outside call did not answer in time. The message names the call and the time, nothing else. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/** A call of the backend was answered in another form than its port says. The message says which form is right, nothing else. */
export class StoreAnswerError extends Error {
  override readonly name = 'StoreAnswerError'
}

/**
 * `auth.<surface>.users.delete` rejects with it, before anything is changed, where foreign keys of the host would refuse
 * that rows of the account go.
 */
export class DeletionRefusedError extends Error {
  override readonly name = 'DeletionRefusedError'
  readonly code = 'deletion_refused_by_foreign_keys'
  /** The tables and foreign keys, such as `shop.orders (orders_user_fkey)`. */
  readonly keys: readonly string[]

  constructor(keys: readonly string[]) {
    super(
      `The user was not deleted: ${keys.join(', ')} would refuse it. Declare these foreign keys "on delete cascade" or ` +
        `"on delete set null", or remove the rows that refer to the user first.`,
    )
    this.keys = keys
  }
}

/** A part that is loaded at its first use could not be. The message names the part, nothing else. */
export class LoadError extends Error {
  override readonly name = 'LoadError'
}

/**
 * What `load` gives: a module that is loaded at its first use, once a process. Rejects with a `LoadError`
 * that names the part for the host's log; the next call tries again.
 */
export async function loadPart<T>(part: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    const remedy = 'deploy all files of postern, and the packages it depends on'
    throw new LoadError(`${part} could not be loaded: ${remedy}`, { cause })
  }
}

// Not ConfigValidationError: hosts write its message, and could quote a secret.
const ownErrors = [
  AuthError,
  DeclarationError,
  DeletionRefusedError,
  LoadError,
  OptionsError,
  SecretKeyError,
  StoreAnswerError,
  TimeoutError,
]
const identifier = /^\w{1,64}$/
/** Where a driver names what refused a write. They come from the catalogue of the database, never from a row. */
const catalogueFields = ['table', 'column', 'constraint', 'raisedBy'] as const

/**
 * The loggable part of an error: its name, its code, what refused a write, and the place that made it. Message, other
 * fields and stack are left out, since drivers and mailers quote rows, values and links in them. Only messages
 * of this library's own errors are kept, as `detail`: loggers call the text of a line `message`.
 */
export function describeError(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { name, message, cause } = error
  const named = ['code', ...catalogueFields].flatMap((field) => {
    const value: unknown = Reflect.get(error, field)
    return typeof value === 'string' && identifier.test(value) ? [[field, value] as const] : []
  })
  const isOwn = ownErrors.some((own) => error instanceof own)
  const at = placeOf(error)
  return {
    error: identifier.test(name) ? name : 'Error',
    ...(isOwn ? { detail: message } : {}),
    ...Object.fromEntries(named),
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

const longestQuote = 80

/** What a caller sent, for a message to that caller: quoted, and cut to a readable length. */
export function quoteInput(text: string): string {
  const characters = Array.from(text)
  const cut =
    characters.length > longestQuote ? `${characters.slice(0, longestQuote).join('')}…` : text
  return JSON.stringify(cut)
}
