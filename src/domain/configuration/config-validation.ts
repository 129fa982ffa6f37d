import { withTimeout } from '../../concurrency/promises.js'
import { ConfigValidationError, describeError } from '../../errors/index.js'
import type { Clock, Logger } from '../../ports/host.js'

/** How long a validator may think: other writers of its environment wait meanwhile. */
const timeoutMs = 10_000

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Runs a module's validator. It accepts by returning nothing. Throws a `ConfigValidationError` for anything else that it
 * returns or throws: nothing is written then. A code is only taken from a `ConfigValidationError`, because errors of Node
 * and of drivers have codes too; anything else that comes is a fault of the validator, and logged. So is an error that
 * quotes one of the `secrets`: none of it is passed on, its code included.
 */
export async function runValidator(
  module: string,
  validator: () => unknown,
  secrets: readonly string[],
  { clock, logger }: Deps,
): Promise<void> {
  const error = first(await outcomeOf(validator, clock))
  if (error === undefined) return
  if (error instanceof ConfigValidationError && isOfTexts(error)) {
    const { field, message, code = '' } = error
    const texts = [field, message, code]
    if (!secrets.some((secret) => texts.some((text) => quotes(text, secret)))) throw error
    logger.error(`a validator of the module "${module}" quoted a secret: its error is withheld`)
  } else {
    logger.error(`a validator of the module "${module}" failed`, describeError(error))
  }
  throw new ConfigValidationError('', 'The values could not be validated.')
}

/** A host without types may give it other members. */
function isOfTexts({ field, message, code = '' }: ConfigValidationError): boolean {
  return [field, message, code].every((member: unknown) => typeof member === 'string')
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

/** The first one of several errors; undefined for none. */
function first(outcome: unknown): unknown {
  const all: readonly unknown[] = Array.isArray(outcome) ? outcome : [outcome]
  return all.find((one) => (one ?? null) !== null)
}

/**
 * Whether a text says a secret, as it is or as JSON or a URL would spell it. Taking only the secret out
 * would tell of it by the words that remain.
 */
function quotes(text: string, secret: string): boolean {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  return forms.some((form) => form !== '' && text.includes(form))
}
