import { operations } from '../operations/index.js'
import { namedSchemas } from '../operations/named-schemas.js'
import type { CookiePrefix } from './credentials.js'
import { documentOf } from './document.js'
import type { OpenApiDocument, OpenApiServer } from './types.js'

export type { CookiePrefix } from './credentials.js'
export type {
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

export interface OpenApiOptions {
  /** What the host mounts: `['client']` for `auth.client` alone; both by default, as `auth.both`. */
  readonly surfaces?: readonly ('operator' | 'client')[]
  /** `Authentication` by default. */
  readonly title?: string
  /** Of the host's API, in its own words; `1.0.0` by default. */
  readonly version?: string
  /** CommonMark. */
  readonly description?: string
  /** Where the routes are, a mount prefix included; the address of the document by default. */
  readonly servers?: readonly OpenApiServer[]
  /**
   * How the names of cookies begin: `__Host-` (the default) on https without a cookie domain,
   * `__Secure-` with one, nothing on a development host.
   */
  readonly cookiePrefix?: CookiePrefix
}

const known = ['operator', 'client'] as const

/**
 * The OpenAPI 3.1 document of the routes a host mounts, made from the table that serves them: a new
 * plain object at each call, to be written out or served. Operation ids are unique and keep their
 * meaning; what is on both surfaces begins with the surface's name, such as `operatorLogin`.
 * Objects that callers get may have more members with any later release; what callers send may not.
 *
 * Throws a `TypeError` that names the option for surfaces there are not.
 *
 * @example
 * import { openApiDocument } from 'postern/openapi'
 *
 * app.get('/openapi.json', (_request, response) => {
 *   response.json(openApiDocument({ surfaces: ['client'], title: 'Shop' }))
 * })
 */
export function openApiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  const { title = 'Authentication', version = '1.0.0', description } = options
  const { surfaces = known, servers = [{ url: '/' }], cookiePrefix = '__Host-' } = options
  const isKnown = surfaces.every((surface) => known.includes(surface))
  if (surfaces.length === 0 || !isKnown) {
    throw new TypeError(
      "openApiDocument: option \"surfaces\" must hold 'operator', 'client' or both, as the host mounts them",
    )
  }
  return documentOf(operations, namedSchemas, {
    surfaces: known.filter((surface) => surfaces.includes(surface)),
    cookiePrefix,
    servers,
    info: { title, version, ...(description === undefined ? {} : { description }) },
  })
}
