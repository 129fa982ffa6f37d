import type { NotCarried } from './import-source.js'

/** A ban that holds until a time, in epoch milliseconds; null for one without an end. */
export function banOf(
  isSet: boolean,
  until: number | null,
  now: number,
): { readonly isBanned: boolean; readonly notes: readonly NotCarried[] } {
  const isBanned = isSet && (until === null || !(until <= now))
  const reason =
    'The ban ends at a time that is not carried: the account is disabled until you enable it.'
  return { isBanned, notes: isBanned && until !== null ? [{ code: 'ban_expires', reason }] : [] }
}
