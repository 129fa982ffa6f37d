import { type Actor, picked } from './actor.js'

/** Knows a password that an owner may have, and signs in with it. */
export const passwordThief: Actor = {
  stolen: { login: 'password' },
  choose({ draw }, { password, session }) {
    if (password === '' || draw.chance(0.08)) return 'steal'
    if (session === '') return 'login'
    return draw.pick(['me', 'me', 'refresh', 'login'])
  },
  steal({ owners }, who, pick) {
    const victim = picked(
      owners.filter(({ passwords }) => passwords.length > 0),
      pick,
    )
    const [password = ''] = victim?.passwords ?? []
    if (victim !== null) Object.assign(who, { owner: victim, password, session: '', ticket: '' })
  },
}
