import { type Actor, picked } from './actor.js'

/** Has the password of an owner with a second factor, and shows each code while its owner types it in. */
export const codeThief: Actor = {
  stolen: { second: 'code' },
  choose({ draw }, { session, code, ticket, password }) {
    if (password === '') return 'steal'
    if (session !== '') return draw.chance(0.2) ? 'steal' : draw.pick(['me', 'refresh'])
    // The login waits before a code is read: who shows it first is a race with the owner.
    if (ticket === '') return 'login'
    return code === '' ? 'steal' : 'second'
  },
  steal({ people }, who, pick) {
    const victim = picked(
      people.filter(({ kind, code, exchange }) => {
        const isTyping = exchange?.operation === 'second' && exchange.ended === null
        return kind === 'device' && code !== '' && (isTyping || who.password === '')
      }),
      pick,
    )
    if (victim === null) return
    const { owner, code } = victim
    const [password = ''] = owner.passwords
    Object.assign(who, { owner, code, password, session: '' })
  },
}
