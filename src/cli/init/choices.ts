export const frameworks = ['express', 'fastify', 'koa', 'hono'] as const
export const stores = ['sqlite', 'postgres', 'mariadb', 'mongo'] as const

export type Framework = (typeof frameworks)[number]
export type StoreName = (typeof stores)[number]

/** The answers of `postern init`. */
export interface Choices {
  readonly framework: Framework
  readonly store: StoreName
  /** The address of the first operator. */
  readonly email: string
  /** What people call the product: authenticator apps and passkeys show it. */
  readonly name: string
}
