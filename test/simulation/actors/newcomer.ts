import type { Operation } from '../history.js'
import type { Actor } from './actor.js'

/** Somebody who registers, confirms the address and signs in. */
export const newcomer: Actor = {
  choose({ draw, mails }, { session, owner }): Operation {
    if (session !== '') return draw.pick(['me', 'refresh', 'me', 'refresh', 'logout', 'change'])
    const hasLink = mails.some((mail) => mail.owner === owner.name && mail.kind === 'verify')
    if (!hasLink) return 'register'
    return draw.pick(['verify', 'login', 'login', 'register'])
  },
}

/** Registers the address of another with a password of its own, before and after the owner does. */
export const squatter: Actor = {
  share: 0.3,
  choose: ({ draw }) => draw.pick(['register', 'login', 'login']),
}
