/** `operator` is for the staff who run the product, `client` for its end users. */
export type Surface = 'operator' | 'client'

/** The `aud` of an access token. `service` marks service accounts, which use the operator surface. */
export type Audience = Surface | 'service'
