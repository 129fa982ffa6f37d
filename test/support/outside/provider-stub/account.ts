/** Somebody with an account at a provider. */
export interface Account {
  readonly subject: string
  readonly email?: string
  /** As the provider writes it; Microsoft says nothing unless the tenant owns the domain. */
  readonly verified?: boolean | string | number
  readonly name?: string
  /** Of Microsoft: the tenant. */
  readonly tenant?: string
  /** Of Google: the Workspace domain, in `hd`. */
  readonly hostedDomain?: string
}

export const tenants = {
  acme: '11111111-2222-4333-8444-555555555555',
  evil: '66666666-7777-4888-9999-000000000000',
  consumers: '9188040d-6c67-4c5b-b112-36a304b66dad',
} as const
