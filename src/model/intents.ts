import type { OauthFailure } from '../ports/events.js'
import type { Doc, SurfaceSpec } from '../ports/store.js'

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

/** What a flow to a provider is for: a browser's login, an app's login, or one more way to sign in. */
export type OauthFlowKind = 'web' | 'mobile' | 'link'

/**
 * A flow to a provider that began and has not come back. The id is the SHA-256 of the `state` sent
 * along (RFC 6749 §10.12). Single use: the callback takes it.
 */
export interface OauthFlow extends Doc {
  readonly provider: string
  readonly kind: OauthFlowKind
  /** The host's own address the browser goes on to; one of the settings' targets. */
  readonly redirectUri: string
  /** SHA-256 of what the browser that began keeps in a cookie; empty for an app, which has none. */
  readonly browserHash: string
  /** Nonce and PKCE verifier towards the provider, encrypted. */
  readonly sealedSecrets: string
  /** The app's own S256 challenge (RFC 7636 §4.2); empty unless `mobile`. */
  readonly codeChallenge: string
  /** Given back to the app as its `state`; null when it sent none. */
  readonly appState: string | null
  /** The version of the terms accepted on the way; empty when none was named. */
  readonly termsVersion: string
  /** The user who links, and the session; empty unless `link`. */
  readonly userId: string
  readonly sessionId: string
  /** That user's epochs then; any other value voids the flow. 0 unless `link`. */
  readonly credentialEpoch: number
  readonly deviceEpoch: number
  readonly expiresAt: number
}

export const oauthFlowsSpec: SurfaceSpec<OauthFlow> = {
  fields: {
    provider: { kind: 'text' },
    kind: { kind: 'text' },
    redirectUri: { kind: 'text' },
    browserHash: { kind: 'text' },
    sealedSecrets: { kind: 'text' },
    codeChallenge: { kind: 'text' },
    appState: { kind: 'text', nullable: true },
    termsVersion: { kind: 'text' },
    userId: { kind: 'text' },
    sessionId: { kind: 'text' },
    credentialEpoch: { kind: 'integer', default: 0 },
    deviceEpoch: { kind: 'integer', default: 0 },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'fixed',
}

/**
 * A code that an app exchanges for tokens. The id is the SHA-256 of the code. Single use, and good only
 * with the verifier of the app's challenge (RFC 7636 §4.6). It is kept after its use: a code that comes
 * again ends the login or session that it opened (RFC 6749 §4.1.2).
 */
export interface OauthCode extends Doc {
  readonly userId: string
  readonly provider: string
  /** The identity that signed in: one unlinked meanwhile opens nothing. */
  readonly identityId: string
  readonly codeChallenge: string
  /** The user's epochs at the callback; any other value voids the code. */
  readonly sessionEpoch: number
  readonly credentialEpoch: number
  /** Epoch milliseconds. */
  readonly goodUntil: number
  /** Null until the app shows it with its verifier; written once. */
  readonly redeemedAt: number | null
  /** When it came again, with the verifier: nothing comes of it any more. Null before. */
  readonly replayedAt: number | null
  /** The session it came to, now or after a second factor; null before. */
  readonly sessionId: string | null
  /** Until when it is known that there was one. */
  readonly expiresAt: number
}

export const oauthCodesSpec: SurfaceSpec<OauthCode> = {
  fields: {
    userId: { kind: 'text' },
    provider: { kind: 'text' },
    identityId: { kind: 'text' },
    codeChallenge: { kind: 'text' },
    sessionEpoch: { kind: 'integer' },
    credentialEpoch: { kind: 'integer' },
    goodUntil: { kind: 'time', default: 0 },
    redeemedAt: { kind: 'time', nullable: true },
    replayedAt: { kind: 'time', nullable: true },
    sessionId: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'fixed',
}

/** The codes that the host's page gets for a failed flow. It would not see a status. */
export const oauthFailures = [
  'oauth_denied',
  'oauth_failed',
  'oauth_provider_disabled',
  'oauth_email_unverified',
  'account_exists_link_required',
  'identity_already_linked',
  'registration_disabled',
  'email_domain_not_allowed',
  'email_not_allowed',
  'email_not_verified',
  'terms_not_accepted',
] as const satisfies readonly OauthFailure[]

/** What a challenge was made for; it is good for nothing else. */
export type PasskeyCeremony =
  | 'passkeyLogin'
  | 'passkeySecondFactor'
  | 'passkeyRegistration'
  | 'passkeyStepUp'

/** One WebAuthn ceremony that has begun. Taken by the first response to it, right or wrong. */
export interface PasskeyChallenge extends Doc {
  readonly ceremony: PasskeyCeremony
  /** 32 random bytes, base64url, for the authenticator to sign. */
  readonly challenge: string
  /** Empty for a passwordless login, whose user is not known yet. */
  readonly userId: string
  /** The session or the login ticket it was made in; empty for a passwordless login. */
  readonly boundTo: string
  /** The user's `deviceEpoch` then: a change of factors or password voids the challenge. */
  readonly deviceEpoch: number
  /** Their `credentialEpoch` then. */
  readonly credentialEpoch: number
  readonly expiresAt: number
}

export const passkeyChallengesSpec: SurfaceSpec<PasskeyChallenge> = {
  fields: {
    ceremony: { kind: 'text' },
    challenge: { kind: 'text' },
    userId: { kind: 'text' },
    boundTo: { kind: 'text' },
    deviceEpoch: { kind: 'integer' },
    credentialEpoch: { kind: 'integer', default: 0 },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'fixed',
}
