/**
 * Structured log lines. The library never passes a password, token, hash or cookie. What a logger
 * throws is ignored.
 */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}
