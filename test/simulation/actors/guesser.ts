import type { Actor } from './actor.js'

/** Tries passwords that are wrong. */
export const guesser: Actor = { share: 0.3, choose: () => 'login' }
