export type Operation =
  | 'login'
  | 'refresh'
  | 'me'
  | 'logout'
  | 'logoutEverywhere'
  | 'change'
  | 'forgot'
  | 'reset'
  | 'disable'
  | 'enable'
  | 'endAll'

/** What a token says of itself. Times are epoch milliseconds. */
export interface Claims {
  readonly sid: string
  readonly jti: string
  /** The generation of a refresh token; 0 of an access token. */
  readonly gen: number
  readonly exp: number
}

/** A request and its reply, as a bystander on the wire sees them. */
export interface Exchange {
  readonly actor: string
  /** Whose account it is about. */
  readonly owner: string
  readonly operation: Operation
  /** The session of the token that was shown; empty without one. */
  readonly session: string
  /** The token that was shown; null without one. */
  readonly shown: Claims | null
  /** The secret that is good once: a refresh token or a mailed one; empty without. */
  readonly spends: string
  /** The decision of the scheduler at which it began, and the time then. */
  readonly begun: number
  readonly begunAt: number
  /** The step of the reply; null where none came. */
  ended: number | null
  endedAt: number
  status: number
  code: string
  body: string
  /** The refresh token in the reply; null without one. */
  issued: Claims | null
  /** True when a call of this request was made to fail, or was not answered in time. */
  struck: boolean
}

/** A mail with a link, as it lies in a mailbox. */
export interface MailedLink {
  readonly owner: string
  readonly token: string
  /** The decision of the scheduler before it came. */
  readonly step: number
}

/** A refresh family was moved on to this generation, whose first token is this one. */
export interface Rotation {
  readonly session: string
  readonly generation: number
  readonly rotatedTo: string
}

export interface History {
  readonly steps: number
  readonly exchanges: readonly Exchange[]
  readonly mails: readonly MailedLink[]
  readonly rotations: readonly Rotation[]
  /** What no reply to anyone else, no row and no line of the log may hold, by whose it is. */
  readonly secrets: ReadonlyMap<string, ReadonlySet<string>>
  /** What no reply to anyone else may hold: address, name and id, by whose they are. */
  readonly marks: ReadonlyMap<string, readonly string[]>
  /** All that was written into rows and into the log. */
  readonly written: string
  /** The owners who could not sign in, change their password and sign out once no call failed any more. */
  readonly stuck: readonly string[]
  /** SHA-256 of every decision and reply. */
  readonly trace: string
}

export const succeeded = ({ status }: Exchange): boolean => status >= 200 && status < 300

/** The session that a reply signed somebody in to; empty where it did not. */
export const sessionIn = ({ issued }: Exchange): string => issued?.sid ?? ''
