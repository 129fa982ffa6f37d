import { type Actor, picked } from './actor.js'

/** Has the password of an owner with a second factor, and reads the codes that are typed in. */
export const codeThief: Actor = {
  stolen: { second: 'code' },
  choose({ draw }, { session, code, ticket }) {
    if (code === '' || draw.chance(0.2)) return 'steal'
    if (session !== '') return draw.pick(['me', 'refresh'])
    return ticket === '' ? 'login' : 'second'
  },
  steal({ people }, who, pick) {
    const victim = picked(
      people.filter(({ kind, code }) => kind === 'device' && code !== ''),
      pick,
    )
    if (victim === null) return
    const { owner, code } = victim
    const [password = ''] = owner.passwords
    Object.assign(who, { owner, code, password, session: '' })
  },
}
