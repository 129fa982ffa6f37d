import { operations } from '../operations/index.js'
import { namedSchemas } from '../operations/named-schemas.js'
import { operationOptions } from '../operations/operation.js'
import { documentOf } from './document.js'
import type { CookiePrefix, OpenApiDocument, OpenApiServer } from './types.js'

export type {
  CookiePrefix,
  JsonSchema,
  OpenApiDocument,
  OpenApiHeader,
  OpenApiMethod,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiReference,
  OpenApiRequestBody,
  OpenApiResponse,
  OpenApiServer,
} from './types.js'

/** The options of `openApiDocument`. */
export interface OpenApiOptions {
  /** The surfaces that the host mounts: `['client']` for `auth.client`. Default both, as `auth.both`. */
  readonly surfaces?: readonly ('operator' | 'client')[]
  /** The options of these surfaces that bring operations, such as `['mailedCode']`. Default none. */
  readonly surfaceOptions?: readonly (typeof operationOptions)[number][]
  /** The `info.title` of the document. Default `Authentication`. */
  readonly title?: string
  /** The version of the host's API. Default `1.0.0`. */
  readonly version?: string
  /** The `info.description`, in CommonMark. Default none. */
  readonly description?: string
  /** The URLs of the routes, including a mount prefix. Default `/`: the host that serves the document. */
  readonly servers?: readonly OpenApiServer[]
  /**
   * The prefix of cookie names: `__Host-` (the default) on https without a cookie domain, `__Secure-`
   * with one, `''` on a development host.
   */
  readonly cookiePrefix?: CookiePrefix
  /** `cookieNamePrefix` of the host's surfaces, which stands after that. Default none. */
  readonly cookieNamePrefix?: string
}

export { operationOptions }

const known = ['operator', 'client'] as const

/**
 * The OpenAPI 3.1 document of the routes that a host mounts, made from the table that serves them.
 * Each call returns a new plain object. Operation ids are unique and keep their meaning; the id of an
 * operation on both surfaces begins with the surface's name, such as `operatorLogin`. A later release
 * may add members to replies, but none to request bodies that callers must send.
 *
 * Throws a `TypeError` for an empty list of surfaces and for an unknown surface.
 *
 * @example
 * import { writeFileSync } from 'node:fs'
 * import { openApiDocument } from 'postern/openapi'
 *
 * const document = openApiDocument({ surfaces: ['client'], title: 'Shop' })
 * writeFileSync('openapi.json', JSON.stringify(document))
 */
export function openApiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  const { title = 'Authentication', version = '1.0.0', description } = options
  const { surfaces = known, servers = [{ url: '/' }], cookiePrefix = '__Host-' } = options
  const { cookieNamePrefix = '', surfaceOptions = [] } = options
  const isKnown = surfaces.every((surface) => known.includes(surface))
  if (surfaces.length === 0 || !isKnown) {
    throw new TypeError(
      "openApiDocument: option \"surfaces\" must hold 'operator', 'client' or both, as the host mounts them",
    )
  }
  const offered = operations.filter(
    ({ option }) => option === undefined || surfaceOptions.includes(option),
  )
  return documentOf(offered, namedSchemas, {
    surfaces: known.filter((surface) => surfaces.includes(surface)),
    cookiePrefix,
    cookieNamePrefix,
    servers,
    info: { title, version, ...(description === undefined ? {} : { description }) },
  })
}
