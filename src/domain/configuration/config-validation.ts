import { withTimeout } from '../../concurrency/with-timeout.js'
import { ConfigValidationError, describeError } from '../../errors/index.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'

/** How long a validator may think: other writers of its environment wait meanwhile. */
const timeoutMs = 10_000

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Runs a module's validator. Throws a `ConfigValidationError` without secrets for whatever it returns
 * or throws: nothing is written then. A code is only taken from a `ConfigValidationError`, because errors of Node
 * and of drivers have codes too; whatever else comes is a fault of the validator, and logged.
 */
export async function runValidator(
  module: string,
  validator: () => unknown,
  secrets: readonly string[],
  { clock, logger }: Deps,
): Promise<void> {
  const error = first(await outcomeOf(validator, clock))
  if (error === undefined) return
  if (error instanceof ConfigValidationError) {
    throw new ConfigValidationError(error.field, scrub(error.message, secrets), error.code)
  }
  logger.error(`a validator of the module "${module}" failed`, describeError(error))
  throw new ConfigValidationError('', 'The values could not be validated.')
}

async function outcomeOf(validator: () => unknown, clock: Clock): Promise<unknown> {
  try {
    const run = async (): Promise<unknown> => validator()
    return await withTimeout(run(), timeoutMs, clock)
  } catch (error) {
    // Rejecting with nothing is a refusal too.
    return error ?? new Error('the validator threw nothing')
  }
}

/** Of several errors the first one; undefined for none. */
function first(outcome: unknown): unknown {
  return (Array.isArray(outcome) ? outcome[0] : outcome) ?? undefined
}

/** In one go and longest first, so that no secret leaves a part of one that contains it. */
function scrub(message: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ])
  const wanted = [...new Set(forms)]
    .filter((form) => form !== '')
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  return wanted.length === 0
    ? message
    : message.replace(new RegExp(wanted.join('|'), 'g'), '[secret]')
}
