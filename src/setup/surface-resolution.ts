import { verifyRefresh } from '../domain/sessions/tokens.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { quoteInput } from '../errors/index.js'
import { cookieName, fullCookies } from '../http/cookies.js'
import type { IncomingRequest } from '../http/incoming-request.js'
import { maxBodyBytes } from '../http/request-input.js'
import type { SurfaceResolution } from '../http/surface-router.js'
import type { AuthOptions } from '../options.js'
import type { Logger } from '../ports/host.js'
import type { Surface } from '../ports/surface.js'
import { cookiePolicyOf, originsOf } from './surface-options.js'
import { surfacesOfRequest } from './surfaces-of-request.js'

const surfaces = ['operator', 'client'] as const

/** How `auth.both` decides which surface an unprefixed path is meant for. */
export function surfaceResolution(
  options: AuthOptions,
  on: (surface: Surface) => SurfaceContext,
  shared: { readonly logger: Logger },
): SurfaceResolution {
  const cookies = {
    operator: cookieName(cookiePolicyOf('operator', options.surfaces.operator), 'refresh'),
    client: cookieName(cookiePolicyOf('client', options.surfaces.client), 'refresh'),
  }
  const origins = {
    operator: originsOf(options.surfaces.operator),
    client: originsOf(options.surfaces.client),
  }
  const only = (found: readonly Surface[]): Surface | null =>
    found.length === 1 ? (found[0] ?? null) : null

  return {
    ofHost: hostResolution(options, shared),
    ofOrigin: (origin) => only(surfaces.filter((surface) => origins[surface].has(origin ?? ''))),
    ofCookie: (shown) =>
      only(surfaces.filter((surface) => fullCookies(shown, cookies[surface]).length > 0)),
    async ofBody(request) {
      const token = refreshTokenIn(await bodyOf(request))
      if (token === null) return null
      for (const surface of surfaces) {
        if (await isOf(on(surface), token)) return surface
      }
      return null
    },
    defaultSurface: options.defaultSurface ?? 'operator',
  }
}

/** Enough to mend a configuration by; scanners make up any number of them. */
const mostUnknownHosts = 10

function hostResolution(
  options: AuthOptions,
  shared: Parameters<typeof surfaceResolution>[2],
): SurfaceResolution['ofHost'] {
  const surfacesOf = surfacesOfRequest(options)
  const unknown = new Set<string>()

  function warn(host: string): void {
    if (unknown.size >= mostUnknownHosts || unknown.has(host)) return
    unknown.add(host)
    shared.logger.warn(
      `no surface has the host ${host}, so requests to it get 404; if it is yours, add it to surfaces.operator.hosts or surfaces.client.hosts`,
    )
  }

  return (request) => {
    const { found, host } = surfacesOf(request)
    if (found.length === 0) warn(quoteInput(host ?? ''))
    return found
  }
}

/** Where no key can judge it, the pipeline answers that, on whatever surface. */
async function isOf(ctx: SurfaceContext, token: string): Promise<boolean> {
  try {
    const verified = await verifyRefresh(ctx, token)
    // One that is expired, or from the future, is still this surface's to refuse.
    return 'claims' in verified
  } catch {
    return false
  }
}

/** A body that breaks off is for the pipeline to meet. */
async function bodyOf(request: IncomingRequest): Promise<Body> {
  try {
    return await request.body(maxBodyBytes)
  } catch {
    return { kind: 'empty' }
  }
}

type Body = Awaited<ReturnType<IncomingRequest['body']>>

/** Only looks: a body that is not as it should be is the pipeline's to refuse. */
function refreshTokenIn(body: Body): string | null {
  try {
    const value: unknown =
      body.kind === 'parsed'
        ? body.value
        : JSON.parse(body.kind === 'bytes' ? new TextDecoder().decode(body.bytes) : 'null')
    const isObject = typeof value === 'object' && value !== null && 'refreshToken' in value
    return isObject && typeof value.refreshToken === 'string' ? value.refreshToken : null
  } catch {
    return null
  }
}
