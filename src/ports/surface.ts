/** The two doors: `operator` is Tier-1, `client` is Tier-2. */
export type Surface = 'operator' | 'client'

/** Who a token was minted for. Service accounts live on the operator surface. */
export type Audience = Surface | 'service'
