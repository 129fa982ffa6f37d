import { z } from 'zod'
import { providerIds } from '../identity-providers/providers.js'
import { isSafeScheme, parseUrl } from './option-shapes.js'

/** `{tenant}` and `{tenantid}` stand for something that is no more than a path segment. */
function isEndpoint(text: string): boolean {
  const url = parseUrl(text.replace(/\{tenant(id)?\}/g, 'tenant'))
  return url !== null && url.username === '' && url.hash === '' && isSafeScheme(url)
}

const endpoint = z.string().refine((text) => isEndpoint(text), {
  message: 'must be an https URL; http only on localhost, with oauth.allowInsecureLoopback',
})

const provider = z.strictObject({
  endpoints: z
    .strictObject({
      issuer: endpoint.optional(),
      authorization: endpoint.optional(),
      token: endpoint.optional(),
      jwks: endpoint.optional(),
      user: endpoint.optional(),
      emails: endpoint.optional(),
    })
    .optional(),
})

/** The `oauth` option. */
export const oauthShape = z
  .strictObject({
    providers: z
      .strictObject(Object.fromEntries(providerIds.map((id) => [id, provider.optional()])))
      .optional(),
    allowInsecureLoopback: z.literal(true, 'must be true, or left out').optional(),
  })
  .superRefine(({ providers = {}, allowInsecureLoopback }, context) => {
    if (allowInsecureLoopback) return
    for (const [id, given] of Object.entries(providers)) {
      for (const [name, text] of Object.entries(given?.endpoints ?? {})) {
        if (!text?.startsWith('http:')) continue
        const message =
          'must be https; http needs oauth.allowInsecureLoopback, which is for tests alone'
        context.addIssue({ code: 'custom', path: ['providers', id, 'endpoints', name], message })
      }
    }
  })
