import type { Operation } from '../history.js'
import type { Actor } from './actor.js'

/** A tab of a browser: its refresh token is a cookie, which it shares with the other tabs. */
export const tab: Actor = {
  choose({ draw }, { jar }): Operation {
    if (jar.cookie === '') return 'tabLogin'
    const at = draw.below(100)
    if (at < 30) return 'view'
    if (at < 60) return 'me'
    return at < 95 ? 'tabRefresh' : 'tabLogout'
  },
}
