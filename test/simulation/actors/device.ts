import type { Operation } from '../history.js'
import type { Actor } from './actor.js'

/** An app of an owner, with tokens in its keychain. */
export const device: Actor = {
  choose({ draw }, { session, ticket }): Operation {
    if (session === '' && ticket !== '' && draw.chance(0.8)) return 'second'
    if (session === '') return draw.chance(0.9) ? 'login' : 'forgot'
    const at = draw.below(100)
    if (at < 32) return 'me'
    if (at < 62) return 'refresh'
    if (at < 67) return 'logout'
    if (at < 72) return 'logoutEverywhere'
    if (at < 86) return 'change'
    return at < 89 ? 'login' : 'forgot'
  },
}
