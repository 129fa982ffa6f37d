/**
 * The most characters of a stored URL as it is sent, which is as `new URL(…).href`: a letter that is typed as one
 * character can be sent as nine. URLs that are built out of it stay below 8 kB, which servers take.
 */
export const longestUrl = 2048

/** The same for a URL that others are built below, and that becomes a parameter of another, encoded once more. */
export const longestBaseUrl = 512
