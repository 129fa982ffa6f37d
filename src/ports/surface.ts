/** `operator` is for the staff who run the product, `client` for its end users. */
export type Surface = 'operator' | 'client'

/** The `aud` of an access token. `service` marks service accounts, which use the operator surface. */
export type Audience = Surface | 'service'

/**
 * The kind of a user: empty for a person, `service` for a service account. Set when the user is made,
 * and never changed.
 */
export type UserKind = '' | 'service'

/** Where a request came from. `ip` follows the host's `trustProxy`; null stands for unknown. */
export interface RequestSource {
  readonly ip: string | null
  readonly userAgent: string | null
}

/** The options of a surface that bring operations of their own. */
export type OperationOption = 'mailedCode'
