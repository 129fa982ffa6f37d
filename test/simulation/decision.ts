import type { Operation } from './history.js'
import type { Release } from './scheduler.js'

/**
 * One step of a history, with all that was drawn for it: played again in the same order, decisions give the same history
 * without any draw. Where other decisions before it were taken out, it may find nothing to do, and then does nothing.
 */
export type Decision =
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'restart'; readonly replica: number }
  | { readonly kind: 'loseDenylist' }
  /** A thief takes what another holds. */
  | { readonly kind: 'steal'; readonly actor: string; readonly pick: number }
  | Beginning
  | { readonly kind: 'kill'; readonly request: string }
  /** Of the calls that the request holds, in order, this one. */
  | {
      readonly kind: 'release'
      readonly request: string
      readonly call: number
      readonly how: Release
    }

/** Somebody sends a request. */
export interface Beginning {
  readonly kind: 'begin'
  readonly actor: string
  readonly operation: Operation
  readonly replica: number
  readonly request: string
  /** Chooses among the links, accounts or codes that there are. */
  readonly pick: number
  /** Whether an owner who is refused believes it at once. */
  readonly forgets: boolean
  /** Whether its reply is lost on the way; only of refreshes. */
  readonly loses?: true
}

/** As a line of a history that is told to people. */
export function lineOf(decision: Decision): string {
  const { kind, ...rest } = decision
  return [kind, ...Object.values(rest)].join(' ')
}
