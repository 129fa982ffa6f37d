import type { ProviderEndpoints } from '../../../../src/identity-providers/provider.js'
import type { ProviderId } from '../../../../src/identity-providers/providers.js'
import type { Account } from '../provider-stub/account.js'
import type { Misbehaviour } from './token-replies.js'

/** A provider on loopback, with pages of its own, strict where the real one is. */
export interface StandIn {
  readonly id: ProviderId
  readonly url: string
  /** For the host's `oauth.providers.<id>.endpoints`. */
  readonly endpoints: Partial<ProviderEndpoints>
  /** Until called again; null is the end of it. */
  misbehave(how: Misbehaviour | null): void
  /** Bodies of the token requests so far. */
  readonly tokenRequests: readonly URLSearchParams[]
  /** Codes and tokens given out so far. */
  readonly secrets: () => readonly string[]
  close(): Promise<void>
}

export interface StandInOptions {
  /** Compared character by character. */
  readonly redirectUris: readonly string[]
  /** Who has an account there; they sign in by their subject. Looked up at every sign-in. */
  readonly accounts: readonly Account[]
}
