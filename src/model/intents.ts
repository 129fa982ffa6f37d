import * as z from 'zod/mini'
import type { OauthFailure } from '../ports/events.js'
import type { Doc, SurfaceSpec } from '../ports/store.js'

/**
 * Something half-finished, of a kind of the table in `engine/intents.ts`. A secret opens it, of which the store has
 * the SHA-256.
 */
export interface StoredIntent extends Doc {
  /** It is good for nothing else. */
  readonly kind: string
  /** The account that it is about; of `register`, the one that it makes. Null where it names none. */
  readonly userId: string | null
  /**
   * What has to come with it, as the table says: the id of a session or of a login that waits, the address that it was
   * mailed to, or the SHA-256 of what a browser or an app keeps. Null for nothing.
   */
  readonly boundTo: string | null
  /** The epochs of the account then; null where it names none. */
  readonly sessionEpoch: number | null
  readonly credentialEpoch: number | null
  readonly deviceEpoch: number | null
  /** Tries that count, each counted before it was looked at. */
  readonly attempts: number
  /** The rest of what its kind says, see `intentForms`. */
  readonly payload: unknown
  readonly expiresAt: number
}

/**
 * What is mailed or has to survive a crash: it is spent after its effect. One document of each account and kind, whose
 * id follows from both. A newer one replaces the older by one guarded write, so an older link is dead the moment a
 * newer one exists.
 */
export interface Intent extends StoredIntent {
  /** SHA-256 of the secret half of the token. */
  readonly secretHash: string
}

/** What may be lost: people then start over. The id is the SHA-256 of the secret. It is spent before its effect. */
export interface Challenge extends StoredIntent {
  /**
   * The session that an app's code came to, now or after a second factor, or that a browser's flow opened; null before,
   * and of every other kind.
   */
  readonly sessionId: string | null
}

const fields = {
  kind: { kind: 'text' },
  userId: { kind: 'text', nullable: true },
  boundTo: { kind: 'text', nullable: true },
  sessionEpoch: { kind: 'integer', nullable: true },
  credentialEpoch: { kind: 'integer', nullable: true },
  deviceEpoch: { kind: 'integer', nullable: true },
  attempts: { kind: 'integer' },
  payload: { kind: 'json' },
} as const

export const intentsSpec: SurfaceSpec<Intent> = {
  fields: { ...fields, secretHash: { kind: 'text' } },
  // By address: what registers it is removed with the account or the registration.
  indexes: [{ on: ['userId'] }, { on: ['boundTo'] }],
  expires: 'sliding',
}

export const challengesSpec: SurfaceSpec<Challenge> = {
  fields: { ...fields, sessionId: { kind: 'text', nullable: true } },
  indexes: [{ on: ['userId'] }],
  expires: 'fixed',
}

/** The kinds of the links and tokens that are kept in `intents`; all others are in `challenges`. */
export const linkKinds = [
  'verifyEmail',
  'register',
  'changeEmail',
  'resetPassword',
  'expiredPassword',
] as const
export type LinkKind = (typeof linkKinds)[number]

const text = z.string()
const whole = z.number()
const none = z.null()
const all = { id: text, kind: text, attempts: whole, expiresAt: whole }
const epochs = { sessionEpoch: whole, credentialEpoch: whole, deviceEpoch: whole }
const noEpochs = { sessionEpoch: none, credentialEpoch: none, deviceEpoch: none }
const ofAccount = { ...all, userId: text, ...epochs }
const ofNobody = { ...all, userId: none, ...noEpochs }

const link = { ...ofAccount, secretHash: text, payload: z.object({}) }
const mailedLink = z.object({ ...link, boundTo: text })
const waitingLogin = z.object({
  ...ofAccount,
  /** Of a browser's flow to a provider: no other browser goes on with it (login CSRF; RFC 9700 §4.7). */
  boundTo: z.nullable(text),
  payload: z.object({
    /** The first factor: `password`, or the id of a provider. */
    method: text,
    /** RFC 8176 values of the first factor. */
    amr: z.array(text),
    /** Where the refresh token of the session goes: a browser's cookie or the body. */
    delivery: z.enum(['cookie', 'body']),
    /** The account at a provider that signed in; null for a login that began otherwise. */
    identityId: z.nullable(text),
    /** The flow of a browser that began it, or the code of an app, which ends it if it comes again; null without. */
    oauthCodeId: z.nullable(text),
    /** Whose guesses at its second factor are counted with this one's; null for those of the account. */
    budget: z.nullable(text),
  }),
})
const flow = {
  provider: text,
  /** The host's own address the browser goes on to; one of the settings' targets. */
  redirectUri: text,
  /**
   * Nonce and PKCE verifier towards the provider, encrypted. Of one that came back, what its page was told of a login
   * that waits for a second factor; else empty.
   */
  sealedSecrets: text,
  /** The version of the terms accepted on the way; null when none was named. */
  termsVersion: z.nullable(text),
  /** Until when it may come back; of one that came back, until when that is known. */
  goodUntil: whole,
}
const flowSecrets = z.object({
  nonce: text,
  codeVerifier: text,
  recognitionId: text,
  registrationKey: text,
})

/** What a flow has encrypted; null for any other text. */
export function flowSecretsIn(opened: string | null): z.output<typeof flowSecrets> | null {
  const { data = null } = z.safeParse(flowSecrets, JSON.parse(opened ?? 'null'))
  return data
}

/** What such a flow has encrypted once it came back; null for any other text. */
export function flowAnswerIn(opened: string | null): Readonly<Record<string, string>> | null {
  const { data = null } = z.safeParse(z.record(text, text), JSON.parse(opened || 'null'))
  return data
}

/** 32 random bytes, base64url, for the authenticator to sign. */
const passkey = z.object({ challenge: text })
const passkeyOfAccount = z.object({ ...ofAccount, boundTo: text, payload: passkey })

/** The form of the document of each kind. One of another form is a broken store. */
export const intentForms = {
  verifyEmail: mailedLink,
  register: mailedLink,
  /** Its secret is of the link and of what the browser or app keeps. */
  confirmedLink: z.object({ ...ofAccount, boundTo: none, payload: z.object({}) }),
  /** Bound to the session that asked, or to `byAdministrator`. The address as typed is to become the account's. */
  changeEmail: z.object({ ...link, boundTo: text, payload: z.object({ email: text }) }),
  resetPassword: mailedLink,
  expiredPassword: z.object({ ...link, boundTo: none }),
  /** Its secret is what the browser or app keeps. One for an address that may not use it names no account. */
  mailedCode: z.object({
    ...{ ...all, userId: z.nullable(text), boundTo: text },
    sessionEpoch: z.nullable(whole),
    credentialEpoch: z.nullable(whole),
    deviceEpoch: z.nullable(whole),
    /** The HMAC of the code under that secret, and whose guesses are counted with its own; null for those of the address. */
    payload: z.object({ codeHash: text, budget: z.nullable(text) }),
  }),
  secondFactor: waitingLogin,
  enrollment: waitingLogin,
  oauthWeb: z.object({
    ...ofNobody,
    kind: z.literal('oauthWeb'),
    boundTo: text,
    payload: z.object(flow),
  }),
  oauthApp: z.object({
    ...ofNobody,
    kind: z.literal('oauthApp'),
    boundTo: none,
    /** The app's own S256 challenge (RFC 7636 §4.2), and what it is given back as its `state`; null when it sent none. */
    payload: z.object({ ...flow, codeChallenge: text, appState: z.nullable(text) }),
  }),
  oauthLink: z.object({
    ...ofAccount,
    kind: z.literal('oauthLink'),
    boundTo: text,
    payload: z.object({ ...flow, sessionId: text }),
  }),
  /**
   * Bound to the app's challenge (RFC 7636 §4.6). It is kept after its use: a code that comes again ends the login or
   * session that it opened (RFC 6749 §4.1.2). `expiresAt` says until when it is known that there was one.
   */
  appCode: z.object({
    ...ofAccount,
    boundTo: text,
    sessionId: z.nullable(text),
    /** The provider and the identity that signed in: one unlinked meanwhile opens nothing. */
    payload: z.object({ method: text, identityId: text, goodUntil: whole }),
  }),
  passkeyLogin: z.object({ ...ofNobody, boundTo: none, payload: passkey }),
  passkeySecondFactor: passkeyOfAccount,
  passkeyRegistration: passkeyOfAccount,
  passkeyStepUp: passkeyOfAccount,
  /** An authenticator app that is not confirmed: it is kept with the factors. */
  totpEnrollment: z.object({
    ...ofAccount,
    sessionEpoch: none,
    boundTo: text,
    payload: z.object({}),
  }),
} as const

/** What each kind has. */
export type Intents = {
  readonly [K in keyof typeof intentForms]: z.output<(typeof intentForms)[K]>
}

/** The kinds that have a document in one of the two collections. */
export type StoredKind = Exclude<keyof Intents, 'totpEnrollment'>

/** Null for a document that does not have the form of the kind. */
export function intentOfForm<K extends StoredKind>(
  kind: K,
  stored: StoredIntent,
): Intents[K] | null {
  const forms: { readonly [F in keyof Intents]: z.ZodMiniType<Intents[F]> } = intentForms
  const read = z.safeParse(forms[kind], stored)
  return read.success ? read.data : null
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
