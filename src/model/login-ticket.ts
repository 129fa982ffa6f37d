import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/** The step that a login still lacks. */
export type LoginTicketPurpose = 'secondFactor' | 'enrollment'

/**
 * A login whose first factor was accepted and that is not a session yet. The id is the SHA-256 of the
 * token that the client holds. Single use: the session that it becomes takes it.
 */
export interface LoginTicket extends Doc {
  readonly userId: string
  readonly purpose: LoginTicketPurpose
  /** The first factor: `password`, or the id of a provider. */
  readonly loginMethod: string
  /** RFC 8176 values of the first factor. */
  readonly amr: readonly string[]
  /** Where the refresh token of the session goes: a browser's cookie or the body. */
  readonly delivery: 'cookie' | 'body'
  /**
   * SHA-256 of what the browser keeps whose flow to a provider this login is: no other one goes on
   * with it. Empty for a login that was no browser's flow.
   */
  readonly browserHash: string
  /** The account at a provider that signed in; empty for a login that began otherwise. */
  readonly identityId: string
  /** The code with which an app began it, which ends it if it comes again; empty without one. */
  readonly oauthCodeId: string
  /** The user's epochs when the first factor was accepted; any other value voids the ticket. */
  readonly sessionEpoch: number
  readonly credentialEpoch: number
  readonly deviceEpoch: number
  /** Codes counted against `mfaMaxAttempts` so far, each before it was checked. */
  readonly attempts: number
  readonly expiresAt: number
}

export const loginTicketsSpec: SurfaceSpec<LoginTicket> = {
  fields: {
    userId: { kind: 'text' },
    purpose: { kind: 'text' },
    loginMethod: { kind: 'text' },
    amr: { kind: 'json' },
    delivery: { kind: 'text' },
    identityId: { kind: 'text', default: '' },
    browserHash: { kind: 'text', default: '' },
    oauthCodeId: { kind: 'text', default: '' },
    sessionEpoch: { kind: 'integer' },
    credentialEpoch: { kind: 'integer' },
    deviceEpoch: { kind: 'integer' },
    attempts: { kind: 'integer' },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'fixed',
}
