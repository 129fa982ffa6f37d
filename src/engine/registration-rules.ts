import { keysIn } from './kept-keys.js'

/**
 * What the account gets that a mailed link makes:
 * - `registered`: what was registered in the same browser or app
 * - `named`: the password that comes with the link; the rest is what was registered in the same browser
 *   or app, and nothing where that was not there
 * - `ask`: nothing says which password its owner wants
 */
export type Beginning = 'registered' | 'named' | 'ask'

/**
 * The link proves the mailbox, and not that a registration is its owner's: a stranger can register any
 * address. That shows in the browser or app, which registered and now has the link.
 */
export function beginning(hasRegistration: boolean, namesPassword: boolean): Beginning {
  if (namesPassword) return 'named'
  return hasRegistration ? 'registered' : 'ask'
}

/**
 * How long registrations and links that confirm an address live, in milliseconds. Never shorter than the window in which
 * mails to an address are counted: a stranger who uses up an owner's mails leaves them with live links.
 */
export function registrationLifeMs(linkMs: number, mailWindowMs: number): number {
  return Math.max(linkMs, mailWindowMs)
}

/**
 * The keys in what a browser or app keeps of its registrations: one for each, so that several
 * addresses can be registered in one browser.
 */
export function registrationKeys(kept: string | null): readonly string[] {
  return keysIn(kept, 43)
}
