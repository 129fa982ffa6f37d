/**
 * Whether a request that a cookie authenticates may come from where it says it comes from. Browsers
 * send at least one of the two headers with every request that could do harm; a request with
 * neither comes from no browser, and carries no cookie it was not given.
 */
export function isOriginAllowed(
  headers: { readonly origin: string | undefined; readonly secFetchSite: string | undefined },
  allowed: ReadonlySet<string>,
): boolean {
  const { origin, secFetchSite } = headers
  if (secFetchSite === 'same-origin' || secFetchSite === 'none') return true
  if (origin !== undefined) return allowed.has(origin)
  return secFetchSite === undefined
}

/**
 * The same for a connection that stays open. Browsers apply no rule of origins to a WebSocket, and always say
 * where it comes from (RFC 6455 §10.2): a request that does not say comes from no page of these origins.
 */
export function isConnectionAllowed(
  headers: Parameters<typeof isOriginAllowed>[0],
  allowed: ReadonlySet<string>,
): boolean {
  const { origin, secFetchSite } = headers
  return secFetchSite === 'same-origin' || (origin !== undefined && allowed.has(origin))
}

/** Whether a browser goes there with the whole page, as by a link (Fetch Metadata). */
export function isNavigation(request: { header(name: string): string | undefined }): boolean {
  return (
    request.header('sec-fetch-mode') === 'navigate' &&
    request.header('sec-fetch-dest') === 'document'
  )
}

/**
 * Whether the person had a part in this navigation: an address that was typed, a step within this origin, or a click or
 * key on a page of another. A page that leads there by itself has none, be it one of a neighbouring subdomain, which
 * others may own; and a browser without Fetch Metadata does not say.
 */
export function isAskedByPerson(request: { header(name: string): string | undefined }): boolean {
  const site = request.header('sec-fetch-site')
  return site === 'same-origin' || site === 'none' || request.header('sec-fetch-user') === '?1'
}
