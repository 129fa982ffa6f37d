/** How long a refresh token that was replaced is answered. */
export const graceMs = 10_000
