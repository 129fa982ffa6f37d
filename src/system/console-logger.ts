import type { Logger } from '../ports/logger.js'

type Level = 'info' | 'warn' | 'error'

/** One JSON line per message on standard error; `debug` is dropped. */
export const consoleLogger: Logger = {
  debug() {},
  info: (message, fields) => write('info', message, fields),
  warn: (message, fields) => write('warn', message, fields),
  error: (message, fields) => write('error', message, fields),
}

function write(
  level: Level,
  message: string,
  fields: Readonly<Record<string, unknown>> = {},
): void {
  process.stderr.write(`${JSON.stringify({ level, source: 'postern', message, ...fields })}\n`)
}
