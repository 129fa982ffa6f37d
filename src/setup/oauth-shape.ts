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

/** Linking is for operators: clients have neither its routes nor its step-up. */
const noLinks = z.undefined('must be left out: accounts are linked on the operator surface alone')

/** The `oauth` option. */
export const oauthShape = z
  .strictObject({
    providers: z.optional(
      z.strictObject(Object.fromEntries(providerIds.map((id) => [id, z.optional(provider)]))),
    ),
    linkOnSignIn: z.optional(
      z.strictObject(
        { operator: z.optional(z.boolean('must be true or false')), client: z.optional(noLinks) },
        'must be { operator: true }, or left out',
      ),
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
