import type { Operation } from '../history.js'
import { type Actor, picked } from './actor.js'

const choose: Actor['choose'] = ({ draw }, { access, credential }): Operation =>
  credential !== null && (access === '' || draw.chance(0.3)) ? 'grant' : 'machineMe'

/** A service account, which asks for a token with its newest secret. */
export const machine: Actor = { choose }

/** Has a copy of one of the machine's secrets. */
export const machineThief: Actor = {
  stolen: { grant: 'machineSecret' },
  choose(world, who) {
    if (who.credential === null || world.draw.chance(0.1)) return 'steal'
    return choose(world, who)
  },
  steal({ machine: { credentials } }, who, pick) {
    who.credential = picked(credentials, pick) ?? who.credential
  },
}
