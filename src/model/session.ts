import type { EndReason } from '../ports/events.js'
import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/**
 * Audit history of one login. It can only deny, never grant: nothing
 * authenticates from it, and protected routes do not read it.
 */
export interface Session extends Doc {
  readonly userId: string
  readonly loginAt: number
  readonly active: boolean
  readonly endedAt: number | null
  readonly endReason: EndReason | null
  /** The first factor: `password`, `webauthn`, or the id of a provider. */
  readonly loginMethod: string
  readonly mfaMethod: string | null
  readonly ip: string | null
  readonly userAgent: string | null
  readonly deviceId: string | null
}

/** Kept 90 days from login, then deleted without an extra period. */
export const sessionRetentionMs = 90 * 24 * 60 * 60 * 1000

export const sessionsSpec: SurfaceSpec<Session> = {
  fields: {
    userId: { kind: 'text' },
    loginAt: { kind: 'time' },
    active: { kind: 'boolean' },
    endedAt: { kind: 'time', nullable: true },
    endReason: { kind: 'text', nullable: true },
    loginMethod: { kind: 'text' },
    mfaMethod: { kind: 'text', nullable: true },
    ip: { kind: 'text', nullable: true },
    userAgent: { kind: 'text', nullable: true },
    deviceId: { kind: 'text', nullable: true },
  },
  // Not by `active` too: one more index to write at each login and each ending, to find the few that an
  // interrupted ending left open.
  indexes: [{ on: ['userId'] }],
  retiredIndexes: [{ on: ['userId', 'active'] }],
  expires: 'fixed',
}
