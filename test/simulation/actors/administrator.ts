import type { Actor } from './actor.js'

/** The host's staff, on any account and on the machine's credentials. */
export const administrator: Actor = {
  share: 0.12,
  choose({ draw, step, steps, machine }) {
    const at = draw.below(100)
    if (at < 8) return 'endAll'
    // Early on there would be little to look at afterwards.
    if (at < 14 && step > steps * 0.3) return 'disable'
    if (at < 40) return 'enable'
    const { credentials } = machine
    if (at < 60 && credentials.length < 2) return 'issueSecret'
    return at < 80 && credentials.length > 1 ? 'revokeSecret' : null
  },
}
