import type { Logger } from '../ports/host.js'
import type { LogContext, LoggedRequest } from '../ports/telemetry.js'

type Fields = Parameters<Logger['info']>[1]

/**
 * A logger that cannot make a request fail: what it throws or rejects with is dropped. With a context, lines that a
 * request causes also have its `operation` and `requestId`.
 */
export function safeLogger(logger: Logger, context: Pick<LogContext, 'current'> | null): Logger {
  const wrapped =
    (level: keyof Logger): Logger['info'] =>
    (message, given) => {
      try {
        const request = context?.current() ?? null
        const fields = request === null ? given : ofRequest(request, given)
        const written: unknown = logger[level](message, fields)
        Promise.resolve(written).catch(() => {})
      } catch {
        // There is nowhere left to say so.
      }
    }
  return {
    debug: wrapped('debug'),
    info: wrapped('info'),
    warn: wrapped('warn'),
    error: wrapped('error'),
  }
}

function ofRequest({ operation, requestId }: LoggedRequest, given: Fields): Fields {
  const request = { operation, requestId: requestId() }
  // Twice: first in order, and last in effect.
  return { ...request, ...given, ...request }
}
