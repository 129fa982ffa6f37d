export type Operation =
  | 'login'
  | 'refresh'
  | 'me'
  | 'logout'
  | 'logoutEverywhere'
  | 'change'
  | 'reset'
  | 'disable'

/** A request and its reply, as a bystander on the wire sees them. */
export interface Exchange {
  readonly actor: string
  readonly operation: Operation
  /** The session of the token that was shown; empty without one. */
  readonly session: string
  /** The secret that is good once: a refresh token or a mailed one; empty without. */
  readonly spends: string
  readonly begun: number
  /** The step of the reply; null where none came. */
  ended: number | null
  status: number
  code: string
  /** The session of the tokens in the reply. */
  issued: string
  /** True when a call of this request was made to fail. */
  struck: boolean
}

export const succeeded = ({ status }: Exchange): boolean => status >= 200 && status < 300
