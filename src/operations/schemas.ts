import { z } from 'zod'

/** Text a store can hold: well-formed, without NUL. */
export const text = z.string().refine((value) => value.isWellFormed() && !value.includes('\0'), {
  message: 'must be well-formed text without NUL',
})

export const emailInput = text.min(3).max(320)
/** Judged by the password policy, not by its schema; the bound is checked in bytes there. */
export const passwordInput = z.string().min(1).max(4096)
/** One line: it ends up in mails and lists of the host's. */
export const nameInput = text.max(200).refine((value) => !/\p{Cc}/u.test(value), {
  message: 'must not contain control characters',
})
export const termsInput = text.max(64)
export const tokenInput = z.string().min(1).max(8192)

export const noBody = z.strictObject({})
export const nothing = z.null()

export const accessGrant = z.strictObject({
  accessToken: z.string(),
  tokenType: z.literal('Bearer'),
  expiresIn: z.int(),
})

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
