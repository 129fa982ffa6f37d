/** How long a mailed reset link lives, in milliseconds: an hour. */
export const resetLinkMs = 60 * 60 * 1000
