import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/**
 * A registration whose mailbox is not proved yet: an account to be. The id is that
 * of the user to be. There is one of each address and browser or app.
 */
export interface PendingRegistration extends Doc {
  /** How the account would be signed in to, so far `password` alone; empty for what a deletion left. */
  readonly method: string
  /** Canonical address; a digest of it for what a deletion left. */
  readonly email: string
  readonly emailAsTyped: string
  /** SHA-256 of what the browser or app keeps that registered; no other one's link makes it an account. */
  readonly keyHash: string
  /** PHC string. No login ever looks at it. */
  readonly passwordHash: string
  readonly name: string
  readonly termsVersion: string | null
  readonly createdAt: number
  readonly expiresAt: number
}

export const pendingRegistrationsSpec: SurfaceSpec<PendingRegistration> = {
  fields: {
    method: { kind: 'text' },
    email: { kind: 'text' },
    emailAsTyped: { kind: 'text' },
    keyHash: { kind: 'text' },
    passwordHash: { kind: 'text' },
    name: { kind: 'text' },
    termsVersion: { kind: 'text', nullable: true },
    createdAt: { kind: 'time' },
  },
  indexes: [{ on: ['method'] }, { on: ['email'] }, { on: ['keyHash'] }],
  expires: 'fixed',
}
