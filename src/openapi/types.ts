/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A reference to a component of the document. */
export interface OpenApiReference {
  readonly $ref: string
}

/** A header of a reply. */
export interface OpenApiHeader {
  readonly description?: string
  readonly required?: boolean
  readonly schema: JsonSchema
}

/** The reply with one status. */
export interface OpenApiResponse {
  readonly description: string
  readonly headers?: Readonly<Record<string, OpenApiHeader>>
  /** By media type. */
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
}

/** A parameter of an operation. */
export interface OpenApiParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly description?: string
  readonly required?: boolean
  readonly schema: JsonSchema
}

/** The body of a request, by media type. */
export interface OpenApiRequestBody {
  readonly required: boolean
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>
}

/** An operation: one method of one path. */
export interface OpenApiOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly deprecated?: true
  /** Any one of these suffices; an empty object stands for a request without credentials. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly OpenApiParameter[]
  readonly requestBody?: OpenApiRequestBody
  /** By status. */
  readonly responses: Readonly<Record<string, OpenApiResponse | OpenApiReference>>
}

/** The HTTP methods that the library serves. */
export type OpenApiMethod = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A URL below which the paths of the document are. */
export interface OpenApiServer {
  readonly url: string
  readonly description?: string
}

/** An OpenAPI 3.1 document, ready for `JSON.stringify`. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1'
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description?: string
  }
  readonly servers: readonly OpenApiServer[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<
    Record<string, { readonly [Method in OpenApiMethod]?: OpenApiOperation }>
  >
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, OpenApiResponse>>
  }
}

/** The prefix of cookie names, which depends on the surface's `baseUrl` and cookie domain. */
export type CookiePrefix = '__Host-' | '__Secure-' | ''

/** What stands before the names of cookies. */
export interface CookieNaming {
  readonly cookiePrefix: CookiePrefix
  /** The host's own part, after that. */
  readonly cookieNamePrefix?: string
}
