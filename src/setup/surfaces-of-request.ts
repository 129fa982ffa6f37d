import { type RouteGuardRequest, readHost } from '../http/http-message.js'
import type { AuthOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'
import type { SharedServices } from './shared-services.js'
import { surfaceHosts } from './surface-hosts.js'

/** The surfaces whose host a request names, and the name that decided. */
export interface OfHost {
  readonly found: readonly Surface[]
  readonly host: string | undefined
}

/** Reads the host of a request, as `auth.both` and `sessionOf` tell the surfaces apart by it. */
export function surfacesOfRequest(
  options: Pick<AuthOptions, 'surfaces'>,
  { forwardedHost }: Pick<SharedServices, 'forwardedHost'>,
): (request: RouteGuardRequest) => OfHost {
  const surfacesOf = surfaceHosts(options)
  return (request) => {
    const host = request.header('host')
    const found = surfacesOf(readHost(host))
    if (found.length === 1) return { found, host }
    // Second, because a proxy may pass on what a client put there.
    const forwarded = forwardedHost(
      request.remoteAddress,
      request.header('x-forwarded-for'),
      request.header('x-forwarded-host'),
    )
    const ofForwarded = forwarded === undefined ? [] : surfacesOf(readHost(forwarded))
    return { found: ofForwarded.length > 0 ? ofForwarded : found, host: forwarded ?? host }
  }
}
