import type { Operation } from '../history.js'
import type { Actor } from './actor.js'

/** The order of the calls of one environment is searched for, which takes the longer the more there are. */
const mostCalls = 45

/** Staff that edits the configuration of the shop, whose values the host's code reads. */
export const editor: Actor = {
  share: 0.25,
  choose({ draw, exchanges }): Operation | null {
    const at = draw.below(100)
    if (at < 30) return 'readShop'
    const calls = exchanges.reduce((sum, { edit }) => sum + (edit === null ? 0 : 1), 0)
    if (calls >= mostCalls) return null
    return at < 45 ? 'lookAtShop' : 'editShop'
  },
}

/** Staff that switches the login by password off and on. */
export const policyMaker: Actor = {
  share: 0.06,
  choose: ({ draw }) => (draw.chance(0.35) ? 'closePasswords' : 'openPasswords'),
}
