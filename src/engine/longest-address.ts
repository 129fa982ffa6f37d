/**
 * The most characters of a stored address as it is sent, which is as `new URL(…).href`: a letter that is typed as one
 * character can be sent as nine. Addresses that are built out of it stay below 8 kB, which servers take.
 */
export const longestAddress = 2048

/** The same for an address that others are built below, and that becomes a parameter of another, encoded once more. */
export const longestBaseAddress = 512
