import type { Clock, Logger } from '../ports/host.js'

type Level = 'info' | 'warn' | 'error'

/**
 * One JSON line per message on standard error, with the time (ISO 8601, UTC); `debug` is dropped. Control characters
 * and line separators are escaped.
 */
export function consoleLogger(clock: Pick<Clock, 'now'>): Logger {
  const write =
    (level: Level): Logger[Level] =>
    (message, fields) => {
      const time = new Date(clock.now()).toISOString()
      const own = { time, level, source: 'postern', message }
      // Once more at the end: no field replaces what the line itself says.
      const line = { ...own, ...fields, ...own }
      process.stderr.write(`${escaped(JSON.stringify(line))}\n`)
    }
  return { debug() {}, info: write('info'), warn: write('warn'), error: write('error') }
}

/** Some terminals act on these, and some readers of lines end one there. JSON leaves them as they are. */
const unescaped = /[\p{Cc}\p{Zl}\p{Zp}]/gu

function escaped(json: string): string {
  return json.replace(unescaped, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
