import { type IncomingHead, readHost } from '../http/incoming-request.js'
import type { AuthOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'
import { surfaceHosts } from './surface-hosts.js'

/** The surfaces whose host a request names, and the name that decided. */
export interface OfHost {
  readonly found: readonly Surface[]
  readonly host: string | undefined
}

/** Reads the host of a request, as `auth.both` and `sessionOf` tell the surfaces apart by it. */
export function surfacesOfRequest(
  options: Pick<AuthOptions, 'surfaces'>,
): (head: IncomingHead) => OfHost {
  const surfacesOf = surfaceHosts(options)
  return ({ host, forwardedHost: forwarded }) => {
    const found = surfacesOf(readHost(host))
    if (found.length === 1) return { found, host }
    // Second, because a proxy may pass on what a client put there.
    const ofForwarded = forwarded === undefined ? [] : surfacesOf(readHost(forwarded))
    return { found: ofForwarded.length > 0 ? ofForwarded : found, host: forwarded ?? host }
  }
}
