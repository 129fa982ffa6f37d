const key = 'postern-console:at-provider'
const taken = new WeakSet<URLSearchParams>()

/** Notes in this tab that its user goes to a provider to sign in. */
export function noteDeparture(): void {
  sessionStorage.setItem(key, 'yes')
}

/** The user begins another sign-in here. */
export function forgetDeparture(): void {
  sessionStorage.removeItem(key)
}

/**
 * Whether this tab's user went to a provider and comes back with this. The ticket in any other link may be that of
 * another person's login by password, whose account the user would go on to sign in to.
 */
export function isOwnReturn(fragment: URLSearchParams): boolean {
  if (sessionStorage.getItem(key) !== null) taken.add(fragment)
  sessionStorage.removeItem(key)
  return taken.has(fragment)
}
