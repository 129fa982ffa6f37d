import { cookieName, readCookie } from '../http/cookies.js'
import { maxBodyBytes } from '../http/request/request-body.js'
import type { SurfaceResolution } from '../http/surface-router.js'
import type { AuthOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'
import { cookiePolicyOf, originsOf } from './surface-options.js'
import type { SurfaceServices } from './surface-services.js'

const surfaces = ['operator', 'client'] as const

/** How `auth.both` decides which surface an unprefixed path is meant for. */
export function surfaceResolution(
  options: AuthOptions,
  built: Readonly<Record<Surface, SurfaceServices>>,
): SurfaceResolution {
  const hosts = {
    operator: new URL(options.surfaces.operator.baseUrl).host,
    client: new URL(options.surfaces.client.baseUrl).host,
  }
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
    ofHost: (host) => only(surfaces.filter((surface) => hosts[surface] === host?.toLowerCase())),
    ofOrigin: (origin) => only(surfaces.filter((surface) => origins[surface].has(origin ?? ''))),
    ofCookie: (header) =>
      only(surfaces.filter((surface) => readCookie(header, cookies[surface]) !== null)),
    async ofBody(request) {
      const token = refreshTokenIn(await bodyOf(request))
      if (token === null) return null
      for (const surface of surfaces) {
        if (await isOf(built[surface], token)) return surface
      }
      return null
    },
    defaultSurface: options.defaultSurface ?? 'operator',
  }
}

/** Where no key can judge it, the pipeline answers that, on whatever surface. */
async function isOf({ tokens }: SurfaceServices, token: string): Promise<boolean> {
  try {
    const verified = await tokens.verifyRefresh(token)
    // An expired one is still this surface's to refuse.
    return verified.ok || verified.reason === 'expired'
  } catch {
    return false
  }
}

/** A body that breaks off is for the pipeline to meet. */
async function bodyOf(request: Parameters<SurfaceResolution['ofBody']>[0]): Promise<Body> {
  try {
    return await request.body(maxBodyBytes)
  } catch {
    return { kind: 'empty' }
  }
}

type Body = Awaited<ReturnType<Parameters<SurfaceResolution['ofBody']>[0]['body']>>

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
