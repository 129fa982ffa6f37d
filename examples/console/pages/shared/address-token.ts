/**
 * The token of a mailed link, which stands in the fragment: `#token=…`. It is taken out of the address and of the
 * history, where the next person at this computer could find it. Null where there is none.
 */
export function takeAddressToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token !== null) history.replaceState(null, '', location.pathname + location.search)
  return token
}
