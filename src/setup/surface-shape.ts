import * as z from 'zod/mini'
import { readHost } from '../http/incoming-request.js'
import {
  isSafeScheme,
  largest,
  parseUrl,
  shortEnough,
  shortEnoughBase,
  whole,
} from './option-shapes.js'

function isBaseUrl(text: string): boolean {
  const url = text === text.trim() ? parseUrl(text) : null
  if (url === null || url.hostname.includes('*') || url.search !== '' || url.hash !== '')
    return false
  if (url.username !== '' || url.password !== '') return false
  return isSafeScheme(url)
}

function isOrigin(text: string): boolean {
  const url = parseUrl(text)
  // `https://*.example.com` is an origin to the parser, and none that a browser sends.
  return url !== null && url.origin === text && !text.includes('*') && isSafeScheme(url)
}

/** As a request would name it: `new URL` refuses what no client could send. */
function isHost(text: string): boolean {
  const host = readHost(text)
  if (host === null || `${host.name}${host.port === '' ? '' : `:${host.port}`}` !== text)
    return false
  return parseUrl(`http://${text}`)?.hostname === host.name
}

/** SHA-256 of the certificate an Android app is signed with, base64url. */
const androidOrigin = /^android:apk-key-hash:[\w-]{43}$/

/** A page of the host's, linked to with the token in the fragment. */
function isPage(text: string): boolean {
  if (text.includes('#')) return false
  const url = parseUrl(text)
  // What is no URL by itself is a path below `baseUrl`.
  return url === null || (url.username === '' && isSafeScheme(url))
}

const domainName = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$|^localhost$/

/** A counter's window is kept for as long; beyond it, a time is no longer one that stores can hold. */
const yearMs = 365 * 24 * 60 * 60 * 1000

const rateLimit = z.strictObject({
  limit: whole(1, largest, 'must be a whole number of at least 1'),
  windowMs: whole(
    1000,
    yearMs,
    `must be a whole number of milliseconds, from 1000 (a second) to ${yearMs} (a year)`,
  ),
})

const page = z.string().check(
  z.refine(isPage, {
    message: 'must be a path such as "/login", or an https URL, without "#": the token goes there',
  }),
  shortEnough,
)

/** The options of one surface, each by itself. */
export const surfaceShape = z.strictObject(
  {
    baseUrl: z.string().check(
      z.refine(isBaseUrl, {
        message:
          'must be the https URL browsers use, such as "https://app.example.com"; http is accepted only for localhost, 127.0.0.1, [::1] and *.localhost',
      }),
      shortEnoughBase,
    ),
    cookieDomain: z.optional(
      z
        .string()
        .check(
          z.regex(
            domainName,
            'must be a lower-case domain without a leading dot, such as "example.com"',
          ),
        ),
    ),
    cookiePath: z.optional(
      z.string().check(
        z.regex(/^\/[\w\-./]*$/, 'must be a path such as "/identity"'),
        // It is a part of each cookie, in characters that are sent as they are.
        z.maxLength(255, 'must be at most 255 characters'),
      ),
    ),
    routesUrl: z.optional(
      z.string().check(
        z.refine(isBaseUrl, {
          message: 'must be an https URL, such as "https://example.com/identity"',
        }),
        shortEnoughBase,
      ),
    ),
    hosts: z.optional(
      z.array(
        z.string().check(
          z.refine(isHost, {
            message:
              'must be a lower-case host such as "app.internal" or "10.0.0.5:3000", without scheme and path',
          }),
        ),
      ),
    ),
    allowedOrigins: z.optional(
      z.array(
        z.string().check(
          z.refine(isOrigin, {
            message:
              'must be an origin such as "https://www.example.com", without path, slash or wildcard',
          }),
          shortEnoughBase,
        ),
      ),
    ),
    pages: z.optional(
      z.strictObject({
        verifyEmail: z.optional(page),
        resetPassword: z.optional(page),
        login: z.optional(page),
      }),
    ),
    webauthn: z.optional(
      z.strictObject({
        rpId: z.optional(
          z
            .string()
            .check(z.regex(domainName, 'must be a lower-case domain, such as "example.com"')),
        ),
        origins: z.optional(
          z.array(
            z.string().check(
              z.refine((text) => androidOrigin.test(text) || isOrigin(text), {
                message:
                  'must be an origin such as "https://www.example.com", or "android:apk-key-hash:" and the base64url SHA-256 of the app\'s certificate',
              }),
            ),
          ),
        ),
      }),
    ),
    rateLimits: z.optional(
      z.strictObject({
        registerPerIp: z.optional(rateLimit),
        recoveryPerIp: z.optional(rateLimit),
        recoveryPerAddress: z.optional(rateLimit),
        confirmPerIp: z.optional(rateLimit),
        refreshPerIp: z.optional(rateLimit),
        refreshFamily: z.optional(rateLimit),
        oauthPerIp: z.optional(rateLimit),
        mfaPerIp: z.optional(rateLimit),
        mfaPerTicket: z.optional(rateLimit),
        mfaPerUser: z.optional(rateLimit),
        passwordChangePerUser: z.optional(rateLimit),
        addressChangePerUser: z.optional(rateLimit),
        grantPerIp: z.optional(rateLimit),
        jwksPerIp: z.optional(rateLimit),
        optionsPerIp: z.optional(rateLimit),
        logoutPerIp: z.optional(rateLimit),
        selfPerSession: z.optional(rateLimit),
        changePerSession: z.optional(rateLimit),
        endingPerSession: z.optional(rateLimit),
        mfaPerSession: z.optional(rateLimit),
        adminPerSession: z.optional(rateLimit),
        exact: z.optional(z.boolean('must be true or false')),
      }),
    ),
  },
  'must be { baseUrl }, also where the host mounts the other surface alone',
)
