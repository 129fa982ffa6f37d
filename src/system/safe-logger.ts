import type { Logger } from '../ports/logger.js'

/** The host's logger, unable to make a request fail: what it throws or rejects with is dropped. */
export function safeLogger(logger: Logger): Logger {
  const wrapped =
    (level: keyof Logger): Logger['info'] =>
    (message, fields) => {
      try {
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
