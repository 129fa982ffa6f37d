import type { RouteGuardRequest } from './request/exchange.js'

/** Bounded, because it is kept with the session. */
export function userAgentOf(request: Pick<RouteGuardRequest, 'header'>): string | null {
  return request.header('user-agent')?.toWellFormed().replaceAll('\0', '').slice(0, 512) ?? null
}
