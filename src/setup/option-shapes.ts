import * as z from 'zod/mini'
import { isLocalHost, longestBaseUrl, longestUrl } from '../engine/addresses.js'

export const functionValue = z.custom<(...args: never[]) => unknown>(
  (value) => typeof value === 'function',
  'must be a function',
)

/** An object with these methods; adapters may be class instances, so its other members are free. */
export function port(...methods: readonly string[]): z.ZodMiniType {
  const them = methods.length === 1 ? 'method' : 'methods'
  const wanted = `must be an object with the ${them} ${methods.join(', ')}`
  return z.custom(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      methods.every((name) => typeof Reflect.get(value, name) === 'function'),
    { message: wanted },
  )
}

/** A whole number in these bounds, with one message for every other value. */
export function whole(min: number, max: number, message: string): z.ZodMiniType {
  return z.int(message).check(z.gte(min, message), z.lte(max, message))
}

export const largest = Number.MAX_SAFE_INTEGER
export const positive = whole(1, largest, 'must be a whole number of at least 1')

export function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null
}

export function isSafeScheme({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLocalHost(hostname))
}

/** Whether an address, or a path below one, is short enough as it is sent. Another check refuses what is neither. */
function isSentWithin(longest: number, text: string): boolean {
  const base = 'https://localhost'
  if (!URL.canParse(text, base)) return true
  // Some are built upon as they are written, and `a/../b` is longer that way.
  return Math.max(text.length, new URL(text, base).href.length) <= longest
}

function sentWithin(longest: number): z.core.$ZodCheck<string> {
  // Written when it is needed: the first number that is written for a language takes 20 ms and 8 MiB of a process.
  const error = () =>
    `must be at most ${longest.toLocaleString('en')} characters as it is sent, which is percent-encoded: shorten it`
  return z.refine<string>((text) => isSentWithin(longest, text), { error })
}

/** The check for an address, as it is sent. */
export const shortEnough = sentWithin(longestUrl)
/** The check for an address that others are built below. */
export const shortEnoughBase = sentWithin(longestBaseUrl)

/** The keys that encrypt configuration. */
export const configKeysShape = z.array(
  z.strictObject({ id: z.string(), key: z.string() }),
  'must be an array of { id, key }; the first one encrypts',
)

const base64 = 'must be the base64 text of the project, not empty'
const base64Text = z.string(base64).check(z.regex(/^[\w+/-]+={0,2}$/, base64))

/** The formats of older hashes that are checked. */
export const legacyHashesShape = z.strictObject({
  bcrypt: z.optional(functionValue),
  scrypt: z.optional(z.boolean('must be true or false')),
  pbkdf2: z.optional(z.boolean('must be true or false')),
  betterAuth: z.optional(z.boolean('must be true or false')),
  firebaseScrypt: z.optional(
    z.strictObject({
      signerKey: base64Text,
      saltSeparator: base64Text,
      rounds: whole(1, 8, 'must be a whole number from 1 to 8'),
      memCost: whole(1, 14, 'must be a whole number from 1 to 14'),
    }),
  ),
})
