import * as z from 'zod/mini'
import { providerIds } from '../identity-providers/providers.js'
import { isSafeScheme, parseUrl, shortEnough } from './option-shapes.js'

/** `{tenant}` and `{tenantid}` stand for something that is no more than a path segment. */
function isEndpoint(text: string): boolean {
  const url = parseUrl(text.replace(/\{tenant(id)?\}/g, 'tenant'))
  return url !== null && url.username === '' && url.hash === '' && isSafeScheme(url)
}

const endpoint = z.string().check(
  z.refine((text) => isEndpoint(text), {
    message: 'must be an https URL; http only on localhost, with oauth.allowInsecureLoopback',
  }),
  shortEnough,
)

const provider = z.strictObject({
  endpoints: z.optional(
    z.strictObject({
      issuer: z.optional(endpoint),
      authorization: z.optional(endpoint),
      token: z.optional(endpoint),
      jwks: z.optional(endpoint),
      user: z.optional(endpoint),
      emails: z.optional(endpoint),
    }),
  ),
})

/** The `oauth` option. */
export const oauthShape = z
  .strictObject({
    providers: z.optional(
      z.strictObject(Object.fromEntries(providerIds.map((id) => [id, z.optional(provider)]))),
    ),
    allowInsecureLoopback: z.optional(z.literal(true, 'must be true, or left out')),
  })
  .check(
    z.superRefine(({ providers = {}, allowInsecureLoopback }, context) => {
      if (allowInsecureLoopback) return
      for (const [id, given] of Object.entries(providers)) {
        for (const [name, text] of Object.entries(given?.endpoints ?? {})) {
          if (!text?.startsWith('http:')) continue
          const message =
            'must be https; http needs oauth.allowInsecureLoopback, which is for tests alone'
          context.addIssue({ code: 'custom', path: ['providers', id, 'endpoints', name], message })
        }
      }
    }),
  )
