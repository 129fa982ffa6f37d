import * as z from 'zod/mini'
import { asSingleLine, isStorable } from '../engine/text.js'

const storable = z.refine<string>((value) => isStorable(value), {
  message: 'must be well-formed text without NUL',
})

/** Text a store can hold: well-formed, without NUL. */
export const text = z.string().check(storable)

export const emailInput = text.check(z.minLength(3), z.maxLength(320))
/** The password policy checks it, including its length in bytes; the schema does not. */
export const passwordInput = z.string().check(z.minLength(1), z.maxLength(4096))
/** Made a single line, because the host shows it in mails and lists. */
export const nameInput = z.string().check(z.overwrite(asSingleLine), storable, z.maxLength(200))
export const termsInput = text.check(z.maxLength(64))
export const tokenInput = text.check(z.minLength(1), z.maxLength(8192))
/** 32 random bytes in base64url. */
export const mfaTokenInput = text.check(z.minLength(1), z.maxLength(64))

/** With the second factor of a login: trust the device it comes from. */
export const trustInput = {
  trustDevice: z.optional(z.boolean()),
  deviceName: z.optional(nameInput),
}
/**
 * With a change of second factors: whether the other sessions end. Left out, they do when a first factor
 * is added and when one is removed.
 */
export const otherSessionsInput = { endOtherSessions: z.optional(z.boolean()) }
/** At a login from an app: what it keeps of earlier ones, to be known by. A browser has a cookie instead. */
export const recognitionInput = {
  recognitionId: z.optional(text.check(z.minLength(1), z.maxLength(256))),
}
/** A page of the host. It is compared with the list of targets and never parsed. */
export const redirectInput = { redirectUri: z.string().check(z.minLength(1), z.maxLength(2048)) }
export const oauthStartErrors = [
  'not_found',
  'oauth_provider_disabled',
  'redirect_not_allowed',
] as const
/** Random bytes in base64url. */
export const challengeIdInput = text.check(z.minLength(1), z.maxLength(64))
/** At most 1,023 bytes, base64url (WebAuthn §4). */
export const credentialIdInput = z.string().check(z.regex(/^[\w-]{1,1364}$/))

/** What `PublicKeyCredential.toJSON` gives after a login; what else it has is left alone. */
export const assertionInput = z.object({
  id: credentialIdInput,
  rawId: credentialIdInput,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: text.check(z.minLength(1)),
    authenticatorData: text.check(z.minLength(1)),
    signature: text.check(z.minLength(1)),
    userHandle: z.nullish(text),
  }),
})

export const noBody = z.strictObject({})
export const nothing = z.null()

export const accessGrant = z.strictObject({
  accessToken: z.string(),
  tokenType: z.literal('Bearer'),
  expiresIn: z.int(),
})

/** For the app to send at its next login, within so many seconds. */
export const signInKeyReply = z.strictObject({ signInKey: z.string(), expiresIn: z.int() })

export const accepted = z.strictObject({ status: z.literal('accepted') })

/** ISO 8601 in UTC. */
export const timestamp = z.iso.datetime()

export const publicUser = z.strictObject({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  emailVerified: z.boolean(),
})

export const passwordChangeRequired = z.strictObject({
  status: z.literal('passwordChangeRequired'),
  passwordToken: z.string(),
})

const loginTicket = { mfaToken: z.string(), expiresIn: z.int() }

export const mfaRequired = z.strictObject({
  status: z.literal('mfaRequired'),
  ...loginTicket,
  methods: z.array(z.enum(['totp', 'backupCode', 'webauthn'])),
})

export const mfaEnrollmentRequired = z.strictObject({
  status: z.literal('mfaEnrollmentRequired'),
  ...loginTicket,
})

/** Web: the refresh token is in the cookie. */
export const authenticatedReply = z.extend(accessGrant, {
  status: z.literal('authenticated'),
  user: publicUser,
})

/** `rotated`: the next generation. `reissued`: the current one, which a parallel request had made. */
export const refreshHeaders = { 'X-Refresh-Outcome': z.enum(['rotated', 'reissued']) }

export const refreshTokenReply = { refreshToken: z.string(), refreshExpiresIn: z.int() }

/** Mobile: the refresh token is in the body. */
export const mobileAuthenticatedReply = z.extend(authenticatedReply, {
  ...refreshTokenReply,
  /** Present if the request asked to trust the device. */
  deviceToken: z.optional(z.string()),
  /** For the app to send at its next logins and refreshes; absent where recognition is off. */
  recognitionId: z.optional(z.string()),
})

/** The answer of a login that is not complete. */
export const unfinishedLogins = [
  passwordChangeRequired,
  mfaRequired,
  mfaEnrollmentRequired,
] as const

/**
 * What a login that waits for its second factor is bound to, where a provider led to it: it goes on in
 * that browser only.
 */
export const flowCookies = ['oauth', 'oauth_form'] as const

/** Every answer of a login, with tokens in cookies or in the body. */
export const loginReplies = [
  authenticatedReply,
  mobileAuthenticatedReply,
  ...unfinishedLogins,
] as const

/** A mailed link that confirms an address, and what may have to come with it. */
export const confirmationInput = z.strictObject({
  token: tokenInput,
  /** Where the account has a password, or is to have one. */
  newPassword: z.optional(passwordInput),
  /** For another address, unless the session that asked for it sends its access token. */
  currentPassword: z.optional(passwordInput),
  /** The name of an account that the link makes, or gives to the owner of the mailbox. */
  name: z.optional(nameInput),
  acceptedTermsVersion: z.optional(termsInput),
  registrationKey: z.optional(tokenInput),
})
