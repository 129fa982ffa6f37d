import type { Kind } from '../world.js'
import type { Actor } from './actor.js'
import { administrator } from './administrator.js'
import { codeThief } from './code-thief.js'
import { device } from './device.js'
import { editor, policyMaker } from './editor.js'
import { guesser } from './guesser.js'
import { machine, machineThief } from './machine.js'
import { linkThief, mailbox } from './mailbox.js'
import { newcomer, squatter } from './newcomer.js'
import { passwordThief } from './password-thief.js'
import { tab } from './tab.js'
import { tokenThief } from './token-thief.js'

export const actors: Readonly<Record<Kind, Actor>> = {
  device,
  tab,
  mailbox,
  newcomer,
  administrator,
  machine,
  tokenThief,
  linkThief,
  passwordThief,
  codeThief,
  machineThief,
  squatter,
  guesser,
  editor,
  policyMaker,
}

const foreign: ReadonlySet<Kind> = new Set<Kind>([
  'tokenThief',
  'linkThief',
  'passwordThief',
  'codeThief',
  'machineThief',
  'squatter',
  'guesser',
])

/** Whether it has no business with the account it asks about. */
export const isForeign = (kind: Kind): boolean => foreign.has(kind)
