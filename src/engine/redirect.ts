/** Where a browser or an app may be sent; a structural part of the setting. */
interface Target {
  readonly uri: string
  readonly surface: 'operator' | 'client'
  readonly flow: 'web' | 'mobile'
}

/**
 * Whether this redirect URI is on the list, by exact string comparison (RFC 9700 §2.1). Nothing is parsed, so no parser
 * can disagree with the browser's.
 */
export function isListedTarget(
  targets: readonly Target[],
  { uri, surface, flow }: Target,
): boolean {
  return targets.some(
    (target) => target.uri === uri && target.surface === surface && target.flow === flow,
  )
}

/**
 * A listed redirect URI, which has no fragment, with members in one. It reaches the page alone: browsers send
 * it neither to a server nor in `Referer` (RFC 9110 §10.1.3). Throws a `TypeError` for what is no URL.
 */
export function withFragment(uri: string, members: Readonly<Record<string, string>>): string {
  const url = new URL(uri)
  url.hash = new URLSearchParams(members).toString()
  return url.href
}

/** A listed redirect URI with more members in its query. Throws a `TypeError` for what is no URL. */
export function withQuery(uri: string, members: Readonly<Record<string, string>>): string {
  const url = new URL(uri)
  const added = new URLSearchParams(members).toString()
  if (added === '') return url.href
  url.search = url.search === '' ? added : `${url.search}&${added}`
  return url.href
}
