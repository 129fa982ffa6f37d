import type { Actor } from './actor.js'

/** An owner who follows a mailed link, mostly the newest, whether it was used or not. */
export const mailbox: Actor = {
  share: 0.15,
  choose({ draw, mails }, { owner }) {
    const hasLinks = mails.some((mail) => mail.owner === owner.name && mail.kind === 'reset')
    return hasLinks && draw.chance(0.5) ? 'reset' : null
  },
}

/** Reads along in the mailbox of an owner. */
export const linkThief: Actor = {
  share: 0.2,
  stolen: { reset: 'link' },
  choose({ draw, mails }, { owner }) {
    const hasLinks = mails.some((mail) => mail.owner === owner.name && mail.kind === 'reset')
    return hasLinks && draw.chance(0.5) ? 'reset' : null
  },
}
