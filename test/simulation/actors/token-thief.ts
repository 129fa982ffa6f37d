import { type Actor, picked } from './actor.js'

/** Takes the tokens of a device, and shows them from elsewhere. */
export const tokenThief: Actor = {
  stolen: { me: 'accessToken', refresh: 'refreshToken' },
  choose({ draw }, { session }) {
    if (session === '' || draw.chance(0.1)) return 'steal'
    // One with the refresh token keeps to it, and the owner meets it as a replay.
    return draw.chance(0.5) ? 'me' : 'refresh'
  },
  steal({ people }, who, pick) {
    const from = people.filter(({ kind, session }) => kind === 'device' && session !== '')
    const victim = picked(from, pick)
    if (victim === null) return
    const { owner, access, refresh, session } = victim
    // With the whole storage, or the tokens alone.
    const recognition = pick % 2 === 0 ? victim.recognition : ''
    Object.assign(who, { owner, access, refresh, session, recognition })
  },
}
