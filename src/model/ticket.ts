import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/**
 * The purpose of a mailed or returned one-time token. `register` is mailed to an address without an
 * account; its user is the one that it makes where nothing was registered in the same browser or app.
 */
export const ticketPurposes = [
  'verifyEmail',
  'register',
  'changeEmail',
  'resetPassword',
  'expiredPassword',
] as const
export type TicketPurpose = (typeof ticketPurposes)[number]

/**
 * One-time tokens of one user and purpose: one document, whose id follows from both. A newer token
 * replaces the older by one guarded write, so an older link is dead the moment a newer one exists.
 */
export interface Ticket extends Doc {
  readonly userId: string
  readonly purpose: TicketPurpose
  /** SHA-256 of the secret half of the token. */
  readonly secretHash: string
  /** The user's `credentialEpoch` when the ticket was written; any other value voids it. */
  readonly credentialEpoch: number
  /** Their `sessionEpoch` then; it voids what a session asked for and may not outlive it. */
  readonly sessionEpoch: number
  /** Their `deviceEpoch` then; it voids what may not outlive a change of factors. */
  readonly deviceEpoch: number
  /** The session that asked for it; empty where none did. */
  readonly sessionId: string
  /**
   * The address the token was mailed to, as typed where it is to become the account's; empty when it
   * was not mailed.
   */
  readonly email: string
  readonly expiresAt: number
}

export const ticketsSpec: SurfaceSpec<Ticket> = {
  fields: {
    userId: { kind: 'text' },
    purpose: { kind: 'text' },
    secretHash: { kind: 'text' },
    credentialEpoch: { kind: 'integer' },
    sessionEpoch: { kind: 'integer', default: 0 },
    deviceEpoch: { kind: 'integer', default: 0 },
    sessionId: { kind: 'text', default: '' },
    email: { kind: 'text' },
  },
  indexes: [{ on: ['userId'] }, { on: ['email'] }],
  expires: 'sliding',
}
