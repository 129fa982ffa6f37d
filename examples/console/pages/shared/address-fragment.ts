/**
 * What the fragment of the address says, such as the token of a mailed link (`#token=…`). It is taken out of the
 * address and of the history, where the next person at this computer could find it.
 */
export function takeAddressFragment(): URLSearchParams {
  const fragment = new URLSearchParams(location.hash.slice(1))
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search)
  return fragment
}
