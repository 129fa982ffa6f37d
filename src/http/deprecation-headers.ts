import type { Operation } from '../operations/operation.js'

/**
 * What tells callers to leave an operation: `Deprecation` (RFC 9745, a structured date) and `Sunset`
 * (RFC 8594, an HTTP date). Empty for an operation that stays.
 */
export function deprecationHeaders({
  deprecated,
}: Pick<Operation, 'deprecated'>): Readonly<Record<string, string>> {
  if (deprecated === undefined) return {}
  const { since, sunset } = deprecated
  return {
    deprecation: `@${Date.parse(since) / 1000}`,
    ...(sunset === undefined ? {} : { sunset: new Date(sunset).toUTCString() }),
  }
}
